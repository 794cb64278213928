package buckets

import (
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// foreignPlacement is a placement of ranges of any bounds at some of the nodes.
func foreignPlacement(t *testing.T, rnd *rand.Rand, nodes []string, copies, ranges int) *ring.Placement {
	t.Helper()
	starts := make(map[ring.Token]bool)
	for len(starts) < ranges {
		starts[ring.Token(rnd.Uint32())] = true
	}
	var order []ring.Token
	for start := range starts {
		order = append(order, start)
	}
	slices.Sort(order)
	var rows []ring.Row
	for i, start := range order {
		row := ring.Row{Range: ring.Range{Start: start, End: order[(i+1)%len(order)]}, Epoch: 1 + rnd.Uint64N(9)}
		for j, n := range rnd.Perm(len(nodes))[:copies] {
			if j == 0 {
				row.Primary = nodes[n]
			} else {
				row.Backups = append(row.Backups, nodes[n])
			}
		}
		rows = append(rows, row)
	}
	return mustPlacement(t, rows)
}

func mustPlacement(t *testing.T, rows []ring.Row) *ring.Placement {
	t.Helper()
	p, err := ring.NewPlacement(rows)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// copiedTokens is how many tokens nodes have to copy.
func copiedTokens(present, desired *ring.Placement) (sum int) {
	for r, rows := range ring.Overlay(present, desired) {
		for node := range rows[1].Copies() {
			if !rows[0].Holds(node) {
				sum += int(r.Len())
			}
		}
	}
	return sum
}

// fewestTokens is the least that any placement of the same buckets within the quotas copies.
func fewestTokens(t *testing.T, present, desired *ring.Placement, in ring.Input) int {
	t.Helper()
	members, err := in.Check()
	if err != nil {
		t.Fatal(err)
	}
	var costs [][]int
	for row := range desired.Rows() {
		cost := make([]int, len(members))
		for r, rows := range ring.Overlay(present, desired) {
			if rows[1] != row {
				continue
			}
			for i, m := range members {
				if !rows[0].Holds(m.ID) {
					cost[i] += int(r.Len())
				}
			}
		}
		costs = append(costs, cost)
	}
	floors, ceilings := bounds(members, in.Copies(), desired.Len())
	return cheapest(costs, floors, ceilings, in.Copies(), newZoning(members, in.Copies()))
}

// partly carries out some of what turns a placement into another: whole pieces, each by the step that
// a handoff would take.
func partly(t *testing.T, rnd *rand.Rand, present, desired *ring.Placement) *ring.Placement {
	t.Helper()
	var rows []ring.Row
	for r, at := range ring.Overlay(present, desired) {
		row := *at[0]
		if rnd.IntN(3) == 0 {
			row = *at[1]
		}
		row.Range, row.Epoch = r, max(at[0].Epoch, at[1].Epoch)
		rows = append(rows, row)
	}
	return mustPlacement(t, rows)
}

// TestAdoptionCopiesTheFewestTokens compares buckets that are made of other ranges with an independent
// answer. However far the handoffs have come, what they have copied is not copied again.
func TestAdoptionCopiesTheFewestTokens(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 20 {
		nodes := []string{"a", "b", "c", "d", "e", "f"}[:2+rnd.IntN(5)]
		backups := rnd.IntN(3)
		present := foreignPlacement(t, rnd, nodes, min(backups+1, len(nodes)), 2+rnd.IntN(200))
		in := ring.Input{Backups: backups, Present: present}
		for _, id := range append(nodes[rnd.IntN(2):], "x", "y")[rnd.IntN(2):] {
			in.Members = append(in.Members, ring.Member{ID: id, Weight: float64(1 + rnd.IntN(3))})
		}
		s, err := New(Config{Mask: 0x3F, SplitUnder: 1, Anew: true})
		if err != nil {
			t.Fatal(err)
		}
		desired, err := s.Desired(in)
		if err != nil {
			t.Fatal(err)
		}
		if desired.Len() != 64 {
			t.Fatalf("%d ranges", desired.Len())
		}
		left := copiedTokens(present, desired)
		if fewest := fewestTokens(t, present, desired, in); left != fewest {
			t.Errorf("%d tokens are copied, %d are the fewest", left, fewest)
		}
		for range 4 {
			in.Present = partly(t, rnd, in.Present, desired)
			if desired, err = s.Desired(in); err != nil {
				t.Fatal(err)
			}
			now, fewest := copiedTokens(in.Present, desired), fewestTokens(t, in.Present, desired, in)
			if now != fewest || now > left {
				t.Errorf("after some handoffs %d tokens are copied, of %d before; %d are the fewest", now, left, fewest)
			}
			left = now
		}
		in.Present = desired
		for _, anew := range []bool{true, false} {
			s, _ := New(Config{Mask: 0x3F, SplitUnder: 1, Anew: anew})
			if again, err := s.Desired(in); err != nil || !equal(again, desired) {
				t.Errorf("anew=%v: the placement that is reached is not the desired one: %v", anew, err)
			}
		}
	}
}

func equal(a, b *ring.Placement) bool {
	x, errX := a.MarshalBinary()
	y, errY := b.MarshalBinary()
	return errX == nil && errY == nil && string(x) == string(y)
}

// TestOwnersOfMostOfBucketKeepIt has two nodes that share each bucket unevenly, but equally in sum.
func TestOwnersOfMostOfBucketKeepIt(t *testing.T) {
	var rows []ring.Row
	const buckets = 16
	size := ring.Token(1 << (32 - bits.Len(buckets-1)))
	for i := range ring.Token(buckets) {
		first, second := "a", "b"
		if i%2 == 1 {
			first, second = "b", "a"
		}
		start, at := i*size, i*size+size/4*3
		rows = append(rows,
			ring.Row{Range: ring.Range{Start: start, End: at}, Epoch: 1, Primary: first},
			ring.Row{Range: ring.Range{Start: at, End: start + size}, Epoch: 1, Primary: second})
	}
	present := mustPlacement(t, rows)
	s, err := New(Config{Mask: buckets - 1, SplitUnder: 1, Anew: true})
	if err != nil {
		t.Fatal(err)
	}
	desired, err := s.Desired(ring.Input{Members: []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}}, Present: present})
	if err != nil {
		t.Fatal(err)
	}
	for i := range desired.Len() {
		row := desired.Row(i)
		if had := present.Lookup(row.Range.Start).Primary; row.Primary != had {
			t.Errorf("%v goes to %s, %s has most of it", row.Range, row.Primary, had)
		}
	}
}

// TestNarrowerMaskMergesOnlyAnew has buckets of a wide mask and asks for a narrow one.
func TestNarrowerMaskMergesOnlyAnew(t *testing.T) {
	in := ring.Input{Backups: 1}
	for i := range 3 {
		in.Members = append(in.Members, ring.Member{ID: fmt.Sprint("n", i), Weight: 1})
	}
	wide, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	if in.Present, err = wide.Desired(in); err != nil {
		t.Fatal(err)
	}
	for anew, want := range map[bool]int{true: 16, false: 256} {
		s, err := New(Config{Mask: 0xF, Anew: anew})
		if err != nil {
			t.Fatal(err)
		}
		if p, err := s.Desired(in); err != nil || p.Len() != want {
			t.Errorf("anew=%v: %v, %v, want %d ranges", anew, p.Len(), err, want)
		}
	}
}

// TestPartsOfSplitBucketAreBucketsAgain has a cluster grow beyond its mask, which splits buckets, while
// a part of the children has changed hands and the others are one range still.
func TestPartsOfSplitBucketAreBucketsAgain(t *testing.T) {
	s, err := New(Config{Mask: 0xF})
	if err != nil {
		t.Fatal(err)
	}
	in := ring.Input{Backups: 1, Members: []ring.Member{{ID: "a", Weight: 1}, {ID: "b", Weight: 1}}}
	if in.Present, err = s.Desired(in); err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(3, 3))
	for _, id := range []string{"c", "d", "e", "f"} {
		in.Members = append(in.Members, ring.Member{ID: id, Weight: 1})
	}
	for i := 0; ; i++ {
		desired, err := s.Desired(in)
		if err != nil {
			t.Fatal(err)
		}
		if desired.Len() != 256 {
			t.Fatalf("%d ranges", desired.Len())
		}
		if copiedTokens(in.Present, desired) == 0 {
			break
		}
		if i == 100 {
			t.Fatal("no end")
		}
		in.Present = joinNeighbours(t, partly(t, rnd, in.Present, desired))
	}
}

// joinNeighbours makes one range of neighbours with the same nodes.
func joinNeighbours(t *testing.T, p *ring.Placement) *ring.Placement {
	t.Helper()
	var rows []ring.Row
	for row := range p.Rows() {
		if n := len(rows); n > 0 && rows[n-1].Primary == row.Primary && slices.Equal(rows[n-1].Backups, row.Backups) {
			rows[n-1].Range.End = row.Range.End
			rows[n-1].Epoch = max(rows[n-1].Epoch, row.Epoch) + 1
			continue
		}
		rows = append(rows, *row)
	}
	return mustPlacement(t, rows)
}
