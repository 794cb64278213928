package buckets

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// BenchmarkDesired takes the placement of n nodes through the loss of one, and back.
func BenchmarkDesired(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		for _, weighted := range []bool{false, true} {
			b.Run(fmt.Sprintf("nodes=%d,weighted=%v", n, weighted), func(b *testing.B) {
				rnd := rand.New(rand.NewPCG(1, 2))
				c := newCluster(b, 1)
				for range n {
					w := 1.0
					if weighted {
						w = math.Exp(rnd.NormFloat64() / 2)
					}
					c.add(w)
				}
				c.rebalance()
				less := c.members[:n-1]
				for b.Loop() {
					for _, members := range [][]ring.Member{less, c.members} {
						p, err := c.strategy.Desired(ring.Input{Members: members, Backups: 1, Present: c.p})
						if err != nil {
							b.Fatal(err)
						}
						c.p = p
					}
				}
			})
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	c := newCluster(b, 1)
	for range 40 {
		c.add(1)
	}
	c.rebalance()
	tokens := make([]ring.Token, 1<<12)
	for i := range tokens {
		tokens[i] = ring.Token(rand.Uint32())
	}
	found := 0
	b.ReportAllocs()
	for b.Loop() {
		for _, t := range tokens {
			found += len(c.p.Lookup(t).Primary)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(tokens)), "ns/lookup")
	if found == 0 {
		b.Fatal("no key has a primary")
	}
}
