package tap

import "errors"

// Errors of taps.
var (
	// ErrOverlap: a range overlaps one that is tapped.
	ErrOverlap = errors.New("range is tapped already")
	// ErrClosed: the tap, or its store, has been closed.
	ErrClosed = errors.New("store is closed")
	// ErrHeld: the taps have not acknowledged a change in time.
	ErrHeld = errors.New("not acknowledged in time")
)
