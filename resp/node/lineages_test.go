package node

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// What was noted of ranges is as if it had been noted of each token, also after a start.
func TestLineagesAreOfTokens(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	const grain = 16
	dir := t.TempDir()
	l, err := loadLineages(dir)
	if err != nil {
		t.Fatal(err)
	}
	var model [grain]uint64
	for i := range model {
		model[i] = firstLineage
	}
	token := func(i int) ring.Token { return ring.Token(uint64(i%grain) * (circle / grain)) }
	for range 200 {
		from, n := rnd.IntN(grain), 1+rnd.IntN(grain)
		r := ring.Range{Start: token(from), End: token(from + n)}
		lineage := uint64(1 + rnd.IntN(4))
		parts, of := l.otherLineages(r, lineage)
		want, got := 0, 0
		for i := range n {
			if model[(from+i)%grain] != lineage {
				want++
			}
		}
		for i, p := range parts {
			for at := uint64(0); at < p.Len(); at += circle / grain {
				got++
				if is := model[(uint64(p.Start)+at)/(circle/grain)]; is != of[i] {
					t.Fatalf("%v is of %d, not %d", p, is, of[i])
				}
			}
		}
		if got != want {
			t.Fatalf("%v, not of %d: %d parts of %d", r, lineage, got, want)
		}
		if rnd.IntN(2) == 0 {
			if err := l.set(r, lineage); err != nil {
				t.Fatal(err)
			}
			for i := range n {
				model[(from+i)%grain] = lineage
			}
		}
		if rnd.IntN(4) == 0 {
			if l, err = loadLineages(dir); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What could not be made last is noted again, and counts as noted only then.
func TestLineagesThatWereNotSavedAreSavedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not there yet")
	l := &lineages{dir: dir, steps: []lineageStep{{0, firstLineage}}}
	r := ring.Range{Start: 200, End: 100}
	if err := l.set(r, 2); err == nil {
		t.Fatal("it was saved to no directory")
	}
	if parts, _ := l.otherLineages(r, 2); len(parts) != 2 {
		t.Errorf("what was not saved is not of another lineage in %v", parts)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := l.set(r, 2); err != nil {
		t.Fatal(err)
	}
	l, err := loadLineages(dir)
	if err != nil {
		t.Fatal(err)
	}
	if parts, _ := l.otherLineages(r, 2); len(parts) != 0 {
		t.Errorf("%v are of another lineage after a start", parts)
	}
}
