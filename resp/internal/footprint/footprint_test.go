package footprint

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
)

// What a footprint says of a range is never less than what was written there.
func TestFootprint(t *testing.T) {
	seed := randomtest.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		var f Footprint
		var tokens []ring.Token
		for range rnd.IntN(4) {
			at := ring.Token(rnd.Uint32())
			i := at >> footprintShift
			f[i/64] |= 1 << (i % 64)
			tokens = append(tokens, at)
		}
		r := ring.Range{Start: ring.Token(rnd.Uint32()), End: ring.Token(rnd.Uint32())}
		switch rnd.IntN(4) {
		case 0:
			r.End = r.Start + ring.Token(rnd.IntN(1<<footprintShift))
		case 1:
			r.End = r.Start
		case 2:
			r.End = 0
		}
		near := slices.ContainsFunc(tokens, func(at ring.Token) bool {
			for _, x := range []ring.Token{at, at &^ (1<<footprintShift - 1), at | (1<<footprintShift - 1)} {
				if r.Contains(x) {
					return true
				}
			}
			first := at &^ (1<<footprintShift - 1)
			return r.Start-first < 1<<footprintShift // it lies within the stretch
		})
		if got := f.Touches(r); got != near {
			t.Fatalf("%v, %08x: %v", r, tokens, got)
		}
		g, ok := Parse([]byte(f.String()))
		if !ok || g != f || f.IsEmpty() != (len(tokens) == 0) {
			t.Fatalf("%v is read as %v", f, g)
		}
	}
	for _, bad := range []string{"", "00", string(make([]byte, 256))} {
		if _, ok := Parse([]byte(bad)); ok {
			t.Errorf("%q is a footprint", bad)
		}
	}
}
