package cells

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
)

func named(n int) []Node {
	nodes := make([]Node, n)
	for i := range nodes {
		id := fmt.Sprintf("node-%03d", i)
		nodes[i] = Node{ID: id, Weight: 1, Hash: xxhash.Sum64String(id)}
	}
	return nodes
}

func mustMake(t *testing.T, a Algorithm, nodes []Node) Chooser {
	t.Helper()
	c, err := a(nodes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// shares counts how many hashes each node is the first choice of.
func shares(c Chooser, nodes, hashes int) []int {
	counts := make([]int, nodes)
	var chosen []int
	for i := range hashes {
		chosen = c.Choose(mix(uint64(i)), 1, chosen[:0])
		counts[chosen[0]]++
	}
	return counts
}

func TestMaglevTableIsEven(t *testing.T) {
	for _, n := range []int{1, 2, 7, 100} {
		m := mustMake(t, Maglev, named(n)).(*maglev)
		entries := make([]int, n)
		for _, node := range m.table {
			entries[node]++
		}
		if slices.Max(entries)-slices.Min(entries) > 1 {
			t.Errorf("%d nodes: from %d to %d entries", n, slices.Min(entries), slices.Max(entries))
		}
	}
}

func TestBoundedStaysWithinItsBound(t *testing.T) {
	for _, slack := range []float64{0.01, defaultSlack, 1} {
		nodes := named(37)
		nodes[3].Weight = 3
		counts := shares(mustMake(t, Bounded(slack), nodes), len(nodes), Cells)
		for i, n := range nodes {
			if limit := math.Ceil((1 + slack) * Cells * n.Weight / 39); float64(counts[i]) > limit {
				t.Errorf("slack %v: %s of weight %v has %d cells, at most %v are allowed", slack, n.ID, n.Weight, counts[i], limit)
			}
		}
	}
}

// The largest share against the mean: what the papers say of each algorithm.
func TestSharesAreAsEvenAsThePapersSay(t *testing.T) {
	randomtest.Draw(t, 3)
	const nodes, hashes = 100, 400_000 // 4,000 each, with a standard deviation of 1.6 %
	for _, tt := range []struct {
		name      string
		algorithm Algorithm
		most      float64
	}{
		{"rendezvous", Rendezvous, 1.07},
		{"jump", Jump, 1.07},
		{"maglev", Maglev, 1.08},
		{"multiprobe", MultiProbe(defaultProbes), 1.15}, // 1.05 in expectation, and what chance adds
		{"lrh", LocalRendezvous(defaultCandidates), 1.25},
	} {
		counts := shares(mustMake(t, tt.algorithm, named(nodes)), nodes, hashes)
		if most := float64(slices.Max(counts)) / (hashes / nodes); most > tt.most {
			t.Errorf("%s: the largest share is %.3f of the mean, want at most %.2f", tt.name, most, tt.most)
		}
	}
}

// A node of twice the weight has twice the share.
func TestWeights(t *testing.T) {
	for name, a := range map[string]Algorithm{
		"rendezvous": Rendezvous, "jump": Jump, "maglev": Maglev, "multiprobe": MultiProbe(defaultProbes), "lrh": LocalRendezvous(defaultCandidates),
	} {
		nodes := named(5)
		nodes[2].Weight = 2
		counts := shares(mustMake(t, a, nodes), 5, 60_000)
		if share := float64(counts[2]) / 10_000; share < 1.75 || share > 2.25 {
			t.Errorf("%s: weight 2 has %.2f shares", name, share)
		}
	}
}

type choice func(n int) []int

func (c choice) Choose(_ uint64, n int, chosen []int) []int { return append(chosen, c(n)...) }

// An algorithm that does not do what it promises makes an error, and no placement.
func TestBadChoices(t *testing.T) {
	members := []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}, {ID: "c", Weight: 1}}
	for name, bad := range map[string]choice{
		"none":    func(int) []int { return nil },
		"too few": func(n int) []int { return []int{0, 1}[:n-1] },
		"twice":   func(int) []int { return []int{1, 1} },
		"no node": func(int) []int { return []int{0, 3} },
		"below 0": func(int) []int { return []int{0, -1} },
	} {
		s := New("bad", func([]Node) (Chooser, error) { return bad, nil }, false)
		if p, err := s.Desired(ring.Input{Members: members, Backups: 1}); p != nil || !errors.Is(err, ErrChoice) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
	failing := errors.New("no room")
	s := New("bad", func([]Node) (Chooser, error) { return nil, failing }, false)
	if p, err := s.Desired(ring.Input{Members: members}); p != nil || !errors.Is(err, failing) {
		t.Errorf("%v, %v", p, err)
	}
	members[0].Pins = []ring.Token{1}
	if p, err := New("rendezvous", Rendezvous, false).Desired(ring.Input{Members: members}); p != nil || !errors.Is(err, ring.ErrPins) {
		t.Errorf("pins: %v, %v", p, err)
	}
}

// What a slip in a weight asks for is refused before it takes memory.
func TestTooManyPlaces(t *testing.T) {
	nodes := named(1000)
	for i := range nodes {
		nodes[i].Weight = ring.MaxWeight
	}
	for name, a := range map[string]Algorithm{"jump": Jump, "bounded": Bounded(defaultSlack)} {
		if c, err := a(nodes); c != nil || !errors.Is(err, ring.ErrPoints) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if c, err := Maglev(make([]Node, ring.MaxPoints/maglevShare+1)); c != nil || !errors.Is(err, ring.ErrPoints) {
		t.Errorf("maglev: %v", err)
	}
}

func TestNextOtherPassesRunsOfOneNode(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	for range 1000 {
		entries := make([]int, 1+rnd.IntN(12))
		for i := range entries {
			entries[i] = rnd.IntN(3)
		}
		next := nextOther(len(entries), func(i int) int { return entries[i] })
		for i, node := range entries {
			want := 0
			for k := 1; k < len(entries); k++ {
				if at := (i + k) % len(entries); entries[at] != node {
					want = at
					break
				}
			}
			if int(next[i]) != want {
				t.Fatalf("%v: after %d comes %d, want %d", entries, i, next[i], want)
			}
		}
	}
}
