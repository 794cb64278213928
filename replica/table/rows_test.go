package table

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// Chunks are a way to keep rows and nothing else: every change has the result that it
// has on a plain list, and no older list sees it.
func TestChunkedRowsAreAPlainList(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	for seed := range 5 {
		r := rand.New(rand.NewPCG(uint64(seed), 1))
		var plain []Row
		for i := range 2000 {
			plain = append(plain, Row{Row: ring.Row{Range: ring.Range{Start: ring.Token(i * 1000)}}, Version: 1})
		}
		first := slices.Clone(plain)
		now := chunked(slices.Clone(plain), new(mark))
		before := now
		for step := range 100 {
			m := new(mark)
			next := rows{slices.Clone(now.chunks), now.n}
			was := slices.Clone(plain)
			switch n := 1 + r.IntN(3); {
			case step%50 == 49: // many at once
				n = 100 + r.IntN(1000)
				fallthrough
			case r.IntN(3) > 0:
				var old []ring.Token
				for range min(n/2, len(plain)-1) {
					i := r.IntN(len(plain))
					old = append(old, plain[i].Range.Start)
					plain = slices.Delete(plain, i, i+1)
				}
				var by []Row
				for range n {
					start := ring.Token(r.Uint32N(2_000_000))
					if !slices.ContainsFunc(plain, func(p Row) bool { return p.Range.Start == start }) {
						row := Row{Row: ring.Row{Range: ring.Range{Start: start}}, Version: uint64(step)}
						by = append(by, row)
						plain = append(plain, row)
					}
				}
				slices.SortFunc(plain, func(a, b Row) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
				next.replace(old, by, m)
			default:
				i := r.IntN(len(plain))
				plain[i].Version = uint64(1000 + step)
				next.edit(plain[i].Range.Start, m).Version = uint64(1000 + step)
			}
			compareRows(t, seed, &next, plain)
			compareRows(t, seed, &now, was)
			now = next
		}
		compareRows(t, seed, &before, first)
	}
}

func compareRows(t *testing.T, seed int, r *rows, plain []Row) {
	t.Helper()
	i := 0
	for row := range r.all() {
		if row.Range != plain[i].Range || row.Version != plain[i].Version {
			t.Fatalf("seed %d: row %d is %v, not %v", seed, i, row, plain[i])
		}
		if at := r.at(row.Range.Start); at != row {
			t.Fatalf("seed %d: %v is found as %v", seed, row, at)
		}
		i++
	}
	if i != len(plain) || r.n != i {
		t.Fatalf("seed %d: %d rows, counted as %d, not %d", seed, i, r.n, len(plain))
	}
	for _, c := range r.chunks {
		if len(c.rows) == 0 || len(c.rows) > chunkRows {
			t.Fatalf("seed %d: a chunk of %d", seed, len(c.rows))
		}
	}
}

// A split of every bucket by sixteen, the largest change of bounds that there is.
func TestAllRowsSplitAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	s := steps(t, new(State), found("n0", 4096))
	split := &Split{}
	for row := range s.Rows() {
		cut := Cut{Row: row.Ref()}
		for i := range 15 {
			cut.At = append(cut.At, row.Range.Start+ring.Token(uint64(i+1)*row.Range.Len()/16))
		}
		split.Cuts = append(split.Cuts, cut)
	}
	s = steps(t, s, split)
	if s.Len() != 65536 || s.Placement().Len() != 65536 {
		t.Errorf("%d rows", s.Len())
	}
	merge := &Merge{}
	run := Run{}
	for row := range s.Rows() {
		if run.Rows = append(run.Rows, row.Ref()); len(run.Rows) == 16 {
			merge.Runs = append(merge.Runs, run)
			run = Run{}
		}
	}
	s = steps(t, s, merge)
	if row, _ := s.Row(0); s.Len() != 4096 || row.Epoch != 3 {
		t.Errorf("%d rows, epoch %d", s.Len(), row.Epoch)
	}
}

func TestHandoffCarriesWholeRanges(t *testing.T) {
	h := Handoff{From: "a", To: "b", Pieces: []ring.Piece{
		{Range: ring.Range{Start: 0xf0, End: 5}}, {Range: ring.Range{Start: 10, End: 20}, Primary: true},
	}}
	if err := h.validate(); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		r       ring.Range
		carried bool
		primary bool
	}{
		{ring.Range{Start: 10, End: 20}, true, true},
		{ring.Range{Start: 12, End: 13}, true, true},
		{ring.Range{Start: 12, End: 21}, false, false},
		{ring.Range{Start: 5, End: 10}, false, false},
		{ring.Range{Start: 0, End: 5}, true, false},
		{ring.Range{Start: 0xf0, End: 0}, true, false},
		{ring.Range{Start: 0xf1, End: 3}, true, false},
		{ring.Range{Start: 0xf1, End: 6}, false, false},
		{ring.Range{Start: 3, End: 3}, false, false},
	} {
		if p, ok := h.Carries(test.r); ok != test.carried || ok && p.Primary != test.primary {
			t.Errorf("%v: %v, %v", test.r, p, ok)
		}
	}
	h.Pieces[1].Range.End = 11
	if err := h.validate(); err == nil {
		t.Error("pieces overlap")
	}
}
