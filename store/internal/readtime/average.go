package readtime

import (
	"sync/atomic"
	"time"
)

// An Average is how long reads of single entries from Pebble take lately. They are quick where the operating system
// has the tables in memory. Any goroutine may call its methods.
type Average struct {
	nanos atomic.Int64
}

const (
	// quickRead is up to which average reads are quick.
	quickRead = 100 * time.Microsecond
	// longestRead is what a longer read counts as, such as one during which the processor did something else.
	longestRead = time.Millisecond
	// readShare is the part of the average that the newest read is.
	readShare = 16
)

// ReadsAreQuick reports whether a read of one entry that the cache does not have is expected to take less than what
// it costs to leave it to another goroutine.
func (a *Average) ReadsAreQuick() bool { return a.nanos.Load() <= int64(quickRead) }

// Note takes a read into account. Where two goroutines do so at once, one of them may be lost.
func (a *Average) Note(took time.Duration) {
	average := a.nanos.Load()
	a.nanos.Store(average + (int64(min(took, longestRead))-average)/readShare)
}

// Of returns the average.
func (a *Average) Of() time.Duration { return time.Duration(a.nanos.Load()) }
