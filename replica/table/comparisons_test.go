package table

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// They are what a list of all tokens would be, whatever was added in which order, and go
// through a snapshot as they are.
func TestComparisonsAreAsAListOfAllTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine: nothing for the race detector")
	}
	const cells = 24
	token := func(cell int) ring.Token { return ring.Token(cell % cells * (circle / cells)) }
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		var want [cells]int64
		s := steps(t, new(State), found("n0", 4))
		for range 30 {
			c := new(Compared)
			for range 1 + rnd.IntN(4) {
				from, n, at := rnd.IntN(cells), 1+rnd.IntN(cells), 1+rnd.Int64N(4)
				c.Parts = append(c.Parts, Comparison{ring.Range{Start: token(from), End: token(from + n)}, at})
				for i := range n {
					want[(from+i)%cells] = at
				}
			}
			was := s.Comparisons()
			before := slices.Clone(was.from)
			s = steps(t, s, c)
			if !slices.Equal(was.from, before) {
				t.Fatalf("seed %d: the older ones have changed", seed)
			}
			again := new(State)
			if err := again.UnmarshalBinary([]byte(mustBytes(t, s))); err != nil {
				t.Fatal(err)
			}
			for from := range cells {
				for n := 1; n <= cells; n++ {
					oldest := want[from]
					for i := range n {
						oldest = min(oldest, want[(from+i)%cells])
					}
					r := ring.Range{Start: token(from), End: token(from + n)}
					if got := again.Comparisons().Oldest(r); got != oldest {
						t.Fatalf("seed %d: %v: %d, not %d", seed, r, got, oldest)
					}
				}
			}
			all := Comparisons{}.With(s.Comparisons().All()...)
			if !slices.Equal(all.from, s.comparisons.from) {
				t.Fatalf("seed %d: %v by its parts is %v", seed, s.comparisons.from, all.from)
			}
		}
	}
}

// What was compared stays so when bounds and primaries change.
func TestComparisonsOutliveTheirRows(t *testing.T) {
	s := steps(t, new(State), found("n0", 4))
	row, _ := s.Row(0)
	part := Comparison{row.Range, 1000}
	s = steps(t, s, &Compared{[]Comparison{part}})
	basis := s.Basis()
	s = steps(t, s, &Split{[]Cut{{row.Ref(), []ring.Token{row.Range.Start + 5}}}})
	if got := s.Comparisons().Oldest(part.Range); got != 1000 {
		t.Errorf("compared at %d", got)
	}
	next, _ := s.Row(row.Range.End)
	if got := s.Comparisons().Oldest(next.Range); got != 0 {
		t.Errorf("what was never compared was at %d", got)
	}
	if now, _ := s.Row(0); now.Version != row.Version+1 || s.Basis() == basis {
		t.Errorf("version %d after one change of version %d", now.Version, row.Version)
	}
}

// A snapshot of the version before has none, and can be read.
func TestSnapshotWithoutComparisonsIsRead(t *testing.T) {
	s := steps(t, new(State), found("n0", 4))
	data := []byte(mustBytes(t, s))
	data = data[:len(data)-1]
	data[0] = 2
	old := new(State)
	if err := old.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if mustBytes(t, old) != mustBytes(t, s) {
		t.Error("it is another state")
	}
}
