package lua

import (
	"time"
)

// OpenOS returns the library os with all that scripts have of it: clock, which tells seconds.
// They are those since the library was opened, not of processor time, of which a script has no
// share of its own.
func OpenOS(t *Thread) *Table {
	opened := time.Now()
	return t.libraryOf([]libraryFunction{{"clock", func(t *Thread) int {
		return t.push1(Number(float64(time.Since(opened).Microseconds()) / 1e6))
	}}})
}
