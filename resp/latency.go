package resp

import (
	"math/bits"
	"time"
)

const (
	latencyBuckets = 28 // up to 34 s, the last one also for all above
	latencyUnit    = 8  // log2 of 256 ns
	// firstBound is the first bucket whose upper end is told to others: about
	// 1 µs.
	firstBound = 2
)

func latencyBucket(d time.Duration) int {
	return min(bits.Len64(uint64(d)>>latencyUnit), latencyBuckets-1)
}

// latencyBound is the upper end of a bucket.
func latencyBound(i int) time.Duration { return 1 << (latencyUnit + i) }

// EachLatency calls visit for each command that has run, with the upper ends of
// duration buckets, in seconds, how many calls stayed below each, how many calls
// there were, and their seconds together. The slices are valid during the call only.
//
// This is how histograms leave the server. The way through its tally.Scope would
// cost a call for every sample, and tally's Prometheus reporter one more for every
// sample in a bucket; here a command costs one atomic addition, and the rest is
// work for whoever asks.
func (s *Server) EachLatency(visit func(command string, bounds []float64, below []uint64, count uint64, sum float64)) {
	const last = latencyBuckets - 1 // without an upper end
	bounds := make([]float64, 0, last-firstBound)
	for i := firstBound; i < last; i++ {
		bounds = append(bounds, latencyBound(i).Seconds())
	}
	below := make([]uint64, len(bounds))
	for _, cmd := range s.table.All {
		c := &s.stats.commands[cmd.ID]
		var count uint64
		for i := range c.latency {
			count += uint64(c.latency[i].Load())
			if i >= firstBound && i < last {
				below[i-firstBound] = count
			}
		}
		if count > 0 {
			visit(cmd.Full, bounds, below, count, time.Duration(c.nanos.Load()).Seconds())
		}
	}
}
