package cells

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gojump "github.com/dgryski/go-jump"

	"github.com/ringside-kv/ringside/internal/randomtest"
)

// Algorithms against other implementations, against figures of their papers, or where there are neither,
// against their definitions, written as plainly as the papers have them.

// Buckets that the paper's code, compiled as C, gives for these keys.
func TestJumpIsThatOfThePaper(t *testing.T) {
	for _, tt := range []struct {
		key     uint64
		buckets int
		want    int
	}{
		{1, 1, 0}, {42, 57, 43}, {0xDEAD10CC, 1, 0}, {0xDEAD10CC, 666, 361}, {256, 1024, 520}, {0, 2, 0},
		{12345678901234567, 1_000_000, 548760}, {math.MaxUint64, 65537, 18311},
	} {
		if got := jumpTo(tt.key, tt.buckets); got != tt.want {
			t.Errorf("key %#x of %d buckets: %d, want %d", tt.key, tt.buckets, got, tt.want)
		}
	}
}

// The same for random keys, against a package by somebody else.
func TestJumpIsThatOfAnotherImplementation(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	for range randomtest.Length(1_000_000, 50_000) {
		key, buckets := rnd.Uint64(), 1+rnd.IntN(1<<(1+rnd.IntN(20)))
		if got, want := jumpTo(key, buckets), int(gojump.Hash(key, buckets)); got != want {
			t.Fatalf("key %#x of %d buckets: %d, want %d", key, buckets, got, want)
		}
	}
}

// Tables 1 and 2 of the paper: three nodes with their permutations, and two of them.
func TestMaglevFillsThePapersTable(t *testing.T) {
	starts, skips := []uint64{3, 0, 3}, []uint64{4, 2, 1}
	if got, want := fillInTurns(7, starts, skips, []float64{1, 1, 1}), []int32{1, 0, 1, 0, 2, 2, 0}; !slices.Equal(got, want) {
		t.Errorf("three nodes: %v, want %v", got, want)
	}
	starts, skips = slices.Delete(starts, 1, 2), slices.Delete(skips, 1, 2)
	if got, want := fillInTurns(7, starts, skips, []float64{1, 1}), []int32{0, 0, 0, 0, 1, 1, 1}; !slices.Equal(got, want) {
		t.Errorf("without the second: %v, want %v", got, want)
	}
}

// weighted are up to 40 nodes of random weights.
func weighted(rnd *rand.Rand) []Node {
	nodes := named(1 + rnd.IntN(40))
	for i := range nodes {
		nodes[i].Weight = math.Exp2(2*rnd.Float64() - 1)
	}
	return nodes
}

// byScore returns nodes in the order of their scores for a hash, the highest first: the weight divided
// by the negative logarithm of a number between 0 and 1.
func byScore(nodes []Node, among []int, hash uint64) []int {
	score := func(i int) float64 {
		u := (float64(pair(nodes[i].Hash, hash)) + 0.5) / (1 << 64)
		return nodes[i].Weight / -math.Log(u)
	}
	order := slices.Clone(among)
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score(b), score(a)) })
	return order
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func TestRendezvousChoosesTheHighestScores(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	for range randomtest.Length(5000, 500) {
		nodes, hash := weighted(rnd), rnd.Uint64()
		n := 1 + rnd.IntN(len(nodes))
		want := byScore(nodes, upTo(len(nodes)), hash)[:n]
		if got := mustMake(t, Rendezvous, nodes).Choose(hash, n, nil); !slices.Equal(got, want) {
			t.Fatalf("%d of %d nodes: %v, want %v", n, len(nodes), got, want)
		}
	}
}

// The candidates are the first nodes at or behind the hash on the circle, and the highest scores among
// them win.
func TestLocalRendezvousChoosesAmongTheNextNodes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	for range randomtest.Length(600, 50) {
		nodes, hash, candidates := weighted(rnd), rnd.Uint64(), 1+rnd.IntN(10)
		n := 1 + rnd.IntN(len(nodes))
		points := newCircle(nodes, slices.Repeat([]int{lrhPoints}, len(nodes))).points
		slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.at-hash, b.at-hash) })
		var next []int
		for _, p := range points {
			if len(next) < max(n, candidates) && !slices.Contains(next, p.node) {
				next = append(next, p.node)
			}
		}
		want := byScore(nodes, next, hash)[:n]
		if got := mustMake(t, LocalRendezvous(candidates), nodes).Choose(hash, n, nil); !slices.Equal(got, want) {
			t.Fatalf("%d of %d nodes, %d candidates: %v, want %v", n, len(nodes), candidates, got, want)
		}
	}
}

// removedBuckets are, for each bucket that was removed, the buckets that worked once it was: the sets by
// which both papers define their algorithms, where the implementations remember a number.
func removedBuckets(buckets int, order []int) (working []int, after map[int][]int) {
	working, after = upTo(buckets), map[int][]int{}
	for _, b := range order {
		last := len(working) - 1
		working[slices.Index(working, b)] = working[last]
		working = working[:last]
		after[b] = slices.Clone(working)
	}
	return working, after
}

// A key goes to a bucket of all, and from one that was removed to one of those that worked then.
func TestSeatAlgorithmsAreThoseOfTheirDefinitions(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	for range randomtest.Length(100, 12) {
		seats := Seats{Nodes: upTo(2 + rnd.IntN(60))}
		all := rnd.Perm(len(seats.Nodes))
		seats.Free = all[:rnd.IntN(len(all))]
		for _, b := range seats.Free {
			seats.Nodes[b] = -1
		}
		working, after := removedBuckets(len(seats.Nodes), seats.Free)
		follow := func(b int, hash uint64) int {
			for !slices.Contains(working, b) {
				b = after[b][pair(uint64(b), hash)%uint64(len(after[b]))]
			}
			return b
		}
		made, err := Memento(named(1), seats)
		if err != nil {
			t.Fatal(err)
		}
		anchored, err := Anchor(named(1), seats)
		if err != nil {
			t.Fatal(err)
		}
		for range 300 {
			hash := rnd.Uint64()
			if got, want := made.(*memento).bucket(hash), follow(jumpTo(hash, len(seats.Nodes)), hash); got != want {
				t.Fatalf("memento, %v of %d removed: bucket %d, want %d", seats.Free, len(seats.Nodes), got, want)
			}
			b := int(hash % anchorCapacity)
			for b >= len(seats.Nodes) { // removed when all before it worked
				b = int(pair(uint64(b), hash) % uint64(b))
			}
			if got, want := anchored.(*anchor).bucket(hash), follow(b, hash); got != want {
				t.Fatalf("anchor, %v of %d removed: bucket %d, want %d", seats.Free, len(seats.Nodes), got, want)
			}
		}
	}
}

// Cells in their order: each goes to the first node at or behind its hash that has room.
func TestBoundedPassesOnToTheNextNodeWithRoom(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	for range randomtest.Length(12, 3) {
		nodes, slack := weighted(rnd), 0.01+rnd.Float64()/2
		counts, err := places(nodes, boundedPoints)
		if err != nil {
			t.Fatal(err)
		}
		points, sum := newCircle(nodes, counts).points, 0.0
		for _, n := range nodes {
			sum += n.Weight
		}
		has := make([]int, len(nodes))
		chooser := mustMake(t, Bounded(slack), nodes)
		for cell := range Cells / 4 {
			hash := rnd.Uint64()
			from, _ := slices.BinarySearchFunc(points, hash, func(p point, hash uint64) int { return cmp.Compare(p.at, hash) })
			want := -1
			for i := 0; want < 0; i++ {
				p := points[(from+i)%len(points)]
				if float64(has[p.node]) < math.Ceil((1+slack)*Cells*(nodes[p.node].Weight/sum)) {
					want = p.node
				}
			}
			has[want]++
			if got := chooser.Choose(hash, 1, nil); got[0] != want {
				t.Fatalf("cell %d of %d nodes: %d, want %d", cell, len(nodes), got[0], want)
			}
		}
	}
}

// Multi-probe by its definition: the least distance of any probe to any point of each node.
func TestMultiProbeChoosesTheNearestNodes(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	for range randomtest.Length(600, 50) {
		nodes := named(1 + rnd.IntN(20))
		for i := range nodes {
			nodes[i].Weight = math.Exp2(2*rnd.Float64() - 1)
		}
		probes := 1 + rnd.IntN(30)
		counts, err := places(nodes, probePoints)
		if err != nil {
			t.Fatal(err)
		}
		points := newCircle(nodes, counts).points
		hash := rnd.Uint64()
		nearest := slices.Repeat([]uint64{math.MaxUint64}, len(nodes))
		for k := range probes {
			probe := mix(hash + uint64(k))
			for _, p := range points {
				nearest[p.node] = min(nearest[p.node], p.at-probe)
			}
		}
		want := make([]int, len(nodes))
		for i := range want {
			want[i] = i
		}
		slices.SortStableFunc(want, func(a, b int) int { return cmp.Compare(nearest[a], nearest[b]) })
		chooser := mustMake(t, MultiProbe(probes), nodes)
		for n := 1; n <= len(nodes); n++ {
			if got := chooser.Choose(hash, n, nil); !slices.Equal(got, want[:n]) {
				t.Fatalf("%d of %d nodes, %d probes: %v, want %v", n, len(nodes), probes, got, want[:n])
			}
		}
	}
}
