package store

import (
	"io"
	"sync/atomic"
	"time"
)

// readTimes knows how long reads of single entries from Pebble take lately. They are quick where the operating
// system has the tables in memory.
type readTimes struct {
	average atomic.Int64 // ns
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
func (r *readTimes) ReadsAreQuick() bool { return r.average.Load() <= int64(quickRead) }

// note takes a read into account. Where two goroutines do so at once, one of them may be lost.
func (r *readTimes) note(took time.Duration) {
	average := r.average.Load()
	r.average.Store(average + (int64(min(took, longestRead))-average)/readShare)
}

// getEntry reads one entry from Pebble.
func getEntry(u *Unit, key []byte) (value []byte, closer io.Closer, err error) {
	if u.BeforeDisk != nil {
		u.BeforeDisk(true)
	}
	began := time.Now()
	value, closer, err = u.s.db.Get(key)
	u.s.readTimes.note(time.Since(began))
	return value, closer, err
}
