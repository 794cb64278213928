package collection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A store with a list in its cache gets a copy of another list under the same key, as a node that was a primary and
// becomes a learner: elements that it has removed by range itself do not come back with the copy. forms are the lists
// here and there: every how many elements one is too long for a chunk.
func TestRemovedRangesDoNotComeBackWithACopy(t *testing.T) {
	oneGoroutine(t)
	for _, forms := range [][2]int{{0, 1}, {1, 0}, {0, 0}, {1, 1}, {0, 9}, {9, 1}, {9, 0}} {
		t.Run(fmt.Sprint(forms), func(t *testing.T) {
			learner, w := newChunkWorld(t), newChunkWorld(t)
			learner.fill(900, forms[0])
			learner.model = learner.model[:460]
			learner.change(func(l *List) error { return l.Trim(0, 459) })
			for i := range 800 {
				e := fmt.Sprint("other", i)
				if forms[1] > 0 && i%forms[1] == 0 {
					e += strings.Repeat("y", maxChunked)
				}
				w.model = append(w.model, e)
			}
			w.change(func(l *List) error {
				for _, e := range w.model {
					if err := l.Push(false, []byte(e)); err != nil {
						return err
					}
				}
				return nil
			})
			copyTo(t, w.s, learner.s)
			learner.model = w.model
			for from := 0; from < len(w.model); from += 50 {
				in(t, learner.s, func(u *store.Unit) {
					var l List
					got, _ := ranged(t, u, &l, int64(from), int64(from+49))
					if !slices.Equal(got, w.model[from:from+50]) {
						t.Errorf("%d to %d is\n%v", from, from+49, got)
					}
				})
			}
			for i, want := range w.model {
				in(t, learner.s, func(u *store.Unit) {
					var l List
					if err := l.Open(u, []byte("k")); err != nil {
						t.Fatal(err)
					}
					if e, ok, err := l.Index(int64(i)); !ok || err != nil || string(e) != want {
						t.Fatalf("element %d is %q, %v, %v, want %q", i, e, ok, err, want)
					}
				}, "k")
			}
			for len(learner.model) > 1 {
				in(t, learner.s, func(u *store.Unit) {
					var l List
					if err := l.Open(u, []byte("k")); err != nil {
						t.Fatal(err)
					}
					n := len(learner.model) - 1
					if e, ok, err := l.Pop(false); !ok || err != nil || string(e) != learner.model[n] {
						t.Fatalf("popped %q, %v, %v, want %q", e, ok, err, learner.model[n])
					}
					learner.model = learner.model[:n]
				}, "k")
			}
		})
	}
}

// copyTo makes dst a copy of src, entry by entry.
func copyTo(t *testing.T, src, dst *store.Store) {
	t.Helper()
	c, err := src.NewCopy(ring.Whole, nil)
	if err != nil {
		t.Fatal(err)
	}
	rc := dst.NewReceiver(ring.Whole)
	defer rc.Close()
	for !c.Done() {
		theirs, err := dst.Digest(ring.Whole, c.Position(), 10_000)
		if err != nil {
			t.Fatal(err)
		}
		for i := range theirs.Groups {
			g := &theirs.Groups[i]
			if g.Entries, g.Detailed, err = dst.DigestEntries(ring.Whole, g.Start, theirs.GroupEnd(i), 10_000); err != nil {
				t.Fatal(err)
			}
		}
		err = c.Chunk(store.ChunkSize, theirs, func(batch []byte, _ store.Position) {
			if batch == nil {
				return
			}
			if _, err := rc.Apply(batch, nil); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
