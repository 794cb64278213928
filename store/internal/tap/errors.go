package tap

import "errors"

// Errors of taps.
var (
	// ErrOverlap: a range overlaps one that is tapped.
	ErrOverlap = errors.New("range is tapped already")
	// ErrClosed: the tap, or its store, has been closed.
	ErrClosed = errors.New("store is closed")
	// ErrUnacked: the taps have not acknowledged a change in time.
	ErrUnacked = errors.New("not acknowledged in time")
)
