package client

import (
	"time"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// A Result is what there is at the end.
type Result struct {
	// Series is what clients saw. It counts from Start on.
	Series *result.Series
	// Took is for how long clients ran.
	Took time.Duration
	// Cores is how many processors the whole process took meanwhile, on the average: that
	// is the clients, if nothing else runs in it. 0 where that is not known.
	Cores float64
	// Saturated is the share of time, 0 to 1, in which a goroutine that wanted to run had
	// to wait for a processor for longer than a millisecond: clients had to, too, and
	// what they saw is not only the servers'.
	Saturated float64
	// Broken is how many connections broke, or came to nothing, and Why the last did. It is
	// not known of clients that share theirs.
	Broken int64
	Why    error
}

// A Live is how it goes.
type Live struct {
	result.Live
	Connected int // clients that have a connection
}
