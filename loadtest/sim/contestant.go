package sim

import (
	"math"
	"time"
)

// A contestant goes with a contender through the scenes of the script, in order.
type contestant interface {
	// step goes to a scene, the first of which is the start. The tally counts what that moves and
	// how large and fast the placement is.
	step(scene int, t *tally) error
}

// sampleKeys is the most keys that look-ups are timed with.
const sampleKeys = 1 << 13

// nanosEach times n runs of do, which is run before to warm up what it needs. It is the
// best of several means, since others may want the processor meanwhile.
func nanosEach(n int, do func(i int)) float64 {
	const rounds = 4
	for i := range n / 8 {
		do(i)
	}
	best := math.Inf(1)
	for round := range rounds {
		from, to := n*round/rounds, n*(round+1)/rounds
		if from == to {
			continue
		}
		start := time.Now()
		for i := from; i < to; i++ {
			do(i)
		}
		best = min(best, float64(time.Since(start).Nanoseconds())/float64(to-from))
	}
	return best
}
