package running

import (
	"math/rand/v2"
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// The word of a unit names its tokens: never fewer than it touches, and those of one key exactly.
func TestMarkNamesTheTokens(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		var places []store.Place
		for range rnd.IntN(4) {
			places = append(places, store.Place(rnd.Uint64()))
		}
		r := ring.Range{Start: ring.Token(rnd.Uint32()), End: ring.Token(rnd.Uint32())}
		if rnd.IntN(2) == 0 {
			r.End = r.Start + ring.Token(1+rnd.IntN(1<<rnd.IntN(31)))
		}
		if len(places) > 0 && rnd.IntN(4) == 0 {
			r.Start = places[0].Token()
		}
		term := rnd.Uint64()
		w := By(term).On(places)
		inside := false
		for _, p := range places {
			inside = inside || r.Contains(p.Token())
		}
		switch touches := w.Touches(r); {
		case inside && !touches:
			t.Fatalf("%v, %v: %x", places, r, w)
		case touches && !inside && len(places) < 2:
			t.Fatalf("%v, %v: %x", places, r, w)
		case touches && len(places) == 0:
			t.Fatalf("no keys, %v: %x", r, w)
		}
		if !w.Before(term+1) || w.Before(term) || w.Before(term-1) || !By(term).Touches(r) {
			t.Fatalf("term %d: %x", term, w)
		}
	}
	if Mark(0).Before(1) {
		t.Error("no unit runs, and it counts as one of old routes")
	}
}
