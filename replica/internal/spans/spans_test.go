package spans

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
)

// Sets of few tokens far apart, so that ranges often share bounds, wrap, and are the whole circle.
func TestOverlappingFindsWhatAComparisonOfAllFinds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(randomtest.Seed(t), 0))
	token := func() ring.Token { return ring.Token(rnd.IntN(12)) << 28 }
	for range randomtest.Length(100_000, 10_000) {
		bounds := make([]ring.Token, rnd.IntN(8))
		for i := range bounds {
			bounds[i] = token()
		}
		slices.Sort(bounds)
		bounds = slices.Compact(bounds)
		var all []ring.Range
		for i, start := range bounds {
			if rnd.IntN(3) > 0 {
				all = append(all, ring.Range{Start: start, End: bounds[(i+1)%len(bounds)]})
			}
		}
		s, r := New(all), ring.Range{Start: token(), End: token()}
		var want []ring.Range
		for _, part := range s {
			if Overlap(part, r) {
				want = append(want, part)
			}
		}
		got := New(slices.Collect(s.Overlapping(r)))
		if !slices.Equal(got, want) {
			t.Fatalf("%v in %v: %v, want %v", r, s, got, want)
		}
		if s.Overlap(r) != (len(want) > 0) {
			t.Fatalf("%v in %v: overlap is %v", r, s, s.Overlap(r))
		}
	}
}
