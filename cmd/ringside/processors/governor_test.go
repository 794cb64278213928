package processors

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// sees has a governor see windows, and returns what it says after each.
func sees(g *governor, windows ...window) []int {
	var said []int
	for _, w := range windows {
		said = append(said, g.see(w))
	}
	return said
}

// What was seen of servers and a redis-benchmark on two processors.
var (
	sadd2 = window{ran: 0.87, waited: 0.71, idle: 0.3} // SADD of one member, two threads
	sadd1 = window{ran: 0.99, waited: 0.04, idle: 0}   // with one
	set2  = window{ran: 1.42, waited: 0.75, idle: 0.2} // SET of random keys
	set1  = window{ran: 0.98, waited: 0.01, idle: 0.8}
	rpop2 = window{ran: 0.98, waited: 0.9, idle: 0.29} // RPOP, as it sometimes is
	rpop1 = window{ran: 1.0, waited: 0.01, idle: 0.4}
	many  = window{ran: 6.8, waited: 1.1, idle: 0.1}
	still = window{ran: 0.02, idle: 1.9}
)

func TestGovernor(t *testing.T) {
	for name, c := range map[string]struct {
		most  int
		seen  []window
		wants []int
	}{
		"threads took turns, now and then":   {2, []window{sadd2, set2, sadd2, set2}, []int{2, 2, 2, 2}},
		"threads take turns":                 {2, []window{sadd2, sadd2, sadd1, sadd1}, []int{2, 1, 1, 1}},
		"both are used":                      {2, []window{set2, set2, set2}, []int{2, 2, 2}},
		"more is wanted than one can do":     {2, []window{sadd2, sadd2, set1, set2}, []int{2, 1, 2, 2}},
		"all is quiet":                       {2, []window{still, sadd2, sadd2, still, still}, []int{2, 2, 1, 2, 2}},
		"others take what was given up":      {2, []window{sadd2, sadd2, {ran: 0.5, waited: 0.5}}, []int{2, 1, 2}},
		"nobody waits":                       {2, []window{{ran: 0.9, waited: 0.1, idle: 0.9}, {ran: 0.9, waited: 0.1, idle: 0.9}}, []int{2, 2}},
		"others take everything":             {2, []window{{ran: 0.3, waited: 1.7}, {ran: 0.3, waited: 1.7}}, []int{2, 2}},
		"waits are those of many processors": {16, []window{{ran: 9, waited: 0.6, idle: 6}, {ran: 9, waited: 0.6, idle: 6}}, []int{16, 16}},
		"many threads, one too many":         {8, []window{many, many, {ran: 6.8, waited: 0.1}}, []int{8, 7, 7}},
		"there is but one":                   {1, []window{{ran: 0.9, waited: 0.6}, {ran: 0.9, waited: 0.6}, {ran: 0.1}}, []int{1, 1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			if said := sees(newGovernor(c.most), c.seen...); !slices.Equal(said, c.wants) {
				t.Errorf("%v, want %v", said, c.wants)
			}
		})
	}
}

// Where one thread is not enough, though two do not look like it, it is tried ever less often.
func TestGovernorLearns(t *testing.T) {
	g := newGovernor(2)
	var tries []int
	for i := range 2000 {
		w := rpop2
		if g.now == 1 {
			w = rpop1
		}
		if before := g.now; g.see(w) < before {
			tries = append(tries, i)
		}
	}
	if len(tries) < 5 || len(tries) > 15 {
		t.Fatalf("tried at %v", tries)
	}
	for i := 2; i < len(tries); i++ {
		if a, b := tries[i-1]-tries[i-2], tries[i]-tries[i-1]; b < a || b > longHold+2 {
			t.Errorf("tried at %v", tries)
		}
	}
	sees(g, still) // with two: nothing was given up, so nothing is forgotten
	if slices.Contains(sees(g, sadd2, sadd2), 1) {
		t.Error("a hold is over too soon")
	}
	for g.hold > 0 {
		sees(g, set2)
	}
	if said := sees(g, sadd2, sadd2, still, sadd2, sadd2, rpop1); !slices.Equal(said, []int{2, 1, 2, 2, 1, 2}) || g.hold != shortHold {
		t.Errorf("%v, held for %d: what was learned of other work", said, g.hold)
	}
}

func TestGovernorStaysWithinBounds(t *testing.T) {
	seed := rand.Uint64()
	rnd := rand.New(rand.NewPCG(seed, 1))
	for range 200 {
		g := newGovernor(1 + rnd.IntN(9))
		for range 500 {
			before := g.now
			n := g.see(window{ran: 10 * rnd.Float64() * rnd.Float64(), waited: 2 * rnd.Float64(), idle: rnd.Float64()})
			if n < 1 || n > g.most || n < before-1 || n != g.now {
				t.Fatalf("seed %d: %d after %d, at most %d", seed, n, before, g.most)
			}
		}
	}
}
