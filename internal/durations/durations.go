package durations

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// Buckets is how many there are: up to 34 s, the last one also for all above.
const Buckets = 28

const (
	unit = 8 // log2 of 256 ns, the end of the first bucket
	// first is the first bucket whose end is shown: about 1 µs.
	first = 2
)

// Bucket is the bucket that counts a duration.
func Bucket(d time.Duration) int { return min(bits.Len64(uint64(max(d, 0))>>unit), Buckets-1) }

// End is the upper end of a bucket; durations in it are shorter.
func End(bucket int) time.Duration { return 1 << (unit + bucket) }

// Counts are how many durations fell into each bucket. Any goroutine may add to them.
type Counts [Buckets]atomic.Int64

// Add counts a duration.
func (c *Counts) Add(d time.Duration) { c[Bucket(d)].Add(1) }

// Reset forgets all durations.
func (c *Counts) Reset() {
	for i := range c {
		c[i].Store(0)
	}
}

// A Histogram has the counts of a moment as Prometheus shows them.
type Histogram struct {
	Ends  []float64 // of buckets, in seconds
	Below []uint64  // how many durations were shorter than each end
	Count uint64    // all durations
	Sum   float64   // of them, in seconds
}

// Histogram returns the counts, with the sum that the caller knows.
func (c *Counts) Histogram(sum time.Duration) Histogram {
	const last = Buckets - 1 // without an end
	h := Histogram{Ends: make([]float64, last-first), Below: make([]uint64, last-first), Sum: sum.Seconds()}
	for i := range c {
		h.Count += uint64(c[i].Load())
		if i >= first && i < last {
			h.Ends[i-first], h.Below[i-first] = End(i).Seconds(), h.Count
		}
	}
	return h
}
