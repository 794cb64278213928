package wal

import (
	"sync/atomic"
	"time"
)

// underway holds when the operations began that wait for the disk, as times of a clock that
// is never 0; 0 in a free place. More operations than places are not counted: the log has a
// write, an fsync and the creation of a successor at a time.
type underway [4]atomic.Int64

// begin notes an operation. The place it returns is set to 0 at the end of the operation.
func (u *underway) begin(now int64) *atomic.Int64 {
	for i := range u {
		if u[i].CompareAndSwap(0, now) {
			return &u[i]
		}
	}
	return new(atomic.Int64)
}

// longest is how long the oldest operation has been under way; 0 if none is.
func (u *underway) longest(now int64) time.Duration {
	longest := int64(0)
	for i := range u {
		if began := u[i].Load(); began != 0 {
			longest = max(longest, now-began)
		}
	}
	return time.Duration(longest)
}
