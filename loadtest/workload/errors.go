package workload

import "errors"

// Errors of texts that make no sense. Messages name the column, counted in bytes from 1 on.
var (
	// ErrChoice says that a choice of keys cannot be read.
	ErrChoice = errors.New("bad choice of keys")
	// ErrMix says that a mix of commands cannot be read.
	ErrMix = errors.New("bad mix")
	// ErrSizes says that lengths of values cannot be read.
	ErrSizes = errors.New("bad value size")
	// ErrTTL says that times to live cannot be read.
	ErrTTL = errors.New("bad time to live")
	// ErrRate says that a rate cannot be read.
	ErrRate = errors.New("bad rate")
)
