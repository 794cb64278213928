package store

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// What a copy and a stream do within a key, whose header may lie before a cut and its
// value behind it.

// apart opens two stores and a stream between them that nobody applies yet.
type apart struct {
	*testing.T
	src, dst *Store
	rc       *Receiver
	batches  [][]byte
}

func newApart(t *testing.T) *apart {
	a := &apart{T: t, src: openTest(t, memConfig(vfs.NewMem(), FsyncNo)), dst: openTest(t, memConfig(vfs.NewMem(), FsyncNo))}
	t.Cleanup(func() {
		a.rc.Close()
		a.src.mustClose(t)
		a.dst.mustClose(t)
	})
	a.rc = a.dst.NewReceiver(ring.Whole)
	a.dst.SetActive()
	return a
}

func (a *apart) emit(b []byte, _ Position) { a.batches = append(a.batches, b) }

// copy goes on with a copy to its end; by digests of so many entries, if n is not 0, of
// what the target holds now.
func (a *apart) copy(c *Copy, n int) {
	a.Helper()
	var d *Digests
	for !c.Done() {
		if n > 0 {
			var err error
			if d, err = a.dst.Digest(ring.Whole, c.Position(), n); err != nil {
				a.Fatal(err)
			}
		}
		if err := putOff(func() error { return c.Chunk(1, d, a.emit) }); err != nil {
			a.Fatal(err)
		}
	}
}

func (a *apart) apply() {
	a.Helper()
	for _, b := range a.batches {
		if len(b) == 0 {
			continue
		}
		var done Signal
		wait, err := a.rc.Apply(b, &done)
		if err == nil && wait {
			err = done.Wait()
		}
		if err != nil {
			a.Fatal(err)
		}
	}
	a.batches = nil
}

func (a *apart) start() *Copy {
	a.Helper()
	c, err := a.src.NewCopy(ring.Whole, nil)
	if err != nil {
		a.Fatal(err)
	}
	return c
}

func (a *apart) equal() {
	a.Helper()
	mustEqual(a.T, ring.Whole, a.src, a.dst)
	a.src.audit(a.T)
	a.dst.audit(a.T)
}

var inPieces = strings.Repeat("v", 6*pieceSize)

// within returns the position of a piece of a key's value.
func within(s *Store, key string, piece byte) Position {
	return layout.EntryPosition(nil, PlaceOf(s.token, []byte(key)), []byte(key), []byte{0, 0, 0, piece})
}

// A copy that goes on within a value sends all the rest of it, also what digests from
// before call equal: the first chunk has it removed.
func TestCopyResumedWithinAValueSendsItsRest(t *testing.T) {
	a := newApart(t)
	a.src.set(t, "key", inPieces, 0)
	a.copy(a.start(), 0)
	a.apply()
	c, err := a.src.NewCopy(ring.Whole, within(a.src, "key", 1))
	if err != nil {
		t.Fatal(err)
	}
	a.copy(c, 20)
	a.apply()
	a.equal()
}

// A copy that resumes within a collection removes elements from the target's cache, too, where digests with entries say
// what the target has.
func TestCopyResumedWithinACollectionLeavesNoLines(t *testing.T) {
	a := newApart(t)
	key := []byte("key")
	a.src.inUnit(t, func(u *Unit) { splitSet(t, u, "key", map[string]string{"fa": "1", "fb": "2", "fc": "3"}) }, "key")
	a.copy(a.start(), 0)
	a.apply()
	field := func(sub string) (value []byte, ok bool) {
		a.dst.inUnit(t, func(u *Unit) {
			v, err := u.GetWhole(key)
			if err == nil {
				value, ok, err = u.Element(key, &v, []byte(sub))
			}
			if err != nil {
				t.Error(err)
			}
		}, "key")
		return value, ok
	}
	for _, sub := range []string{"fa", "fb", "fc"} {
		if _, ok := field(sub); !ok {
			t.Fatalf("%s was not copied", sub)
		}
	}
	a.src.inUnit(t, func(u *Unit) {
		v, err := u.Get(key)
		if err != nil {
			t.Error(err)
		}
		u.RemoveElement(key, &v, []byte("fc"))
		u.PutHead(key, &v, 2, 1, nil)
	}, "key")
	c, err := a.src.NewCopy(ring.Whole, layout.EntryPosition(nil, PlaceOf(a.src.token, key), key, []byte("fb")))
	if err != nil {
		t.Fatal(err)
	}
	for !c.Done() {
		theirs, err := a.dst.Digest(ring.Whole, c.Position(), 20)
		if err != nil {
			t.Fatal(err)
		}
		for i := range theirs.Groups {
			g := &theirs.Groups[i]
			if g.Entries, g.Detailed, err = a.dst.DigestEntries(ring.Whole, g.Start, theirs.GroupEnd(i), 20); err != nil {
				t.Fatal(err)
			}
		}
		if err := putOff(func() error { return c.Chunk(ChunkSize, theirs, a.emit) }); err != nil {
			t.Fatal(err)
		}
	}
	a.apply()
	if value, ok := field("fc"); ok {
		t.Errorf("fc is still found, and is %q", value)
	}
	if value, ok := field("fb"); !ok || string(value) != "2" {
		t.Errorf("fb is %q, %v", value, ok)
	}
}

// A key that has expired at the source goes as a whole at the target, though a group of
// digests begins within it.
func TestCopyRemovesAnExpiredKeyInWhichAGroupBegins(t *testing.T) {
	oneGoroutine(t)
	for n := 1; n < 9; n++ {
		a := newApart(t)
		a.src.set(t, "key", inPieces, a.src.now()+3_600_000)
		a.copy(a.start(), 0)
		a.apply()
		a.src.SetActive() // until the copy comes by, the key is there
		a.src.skew.Store(2 * 3_600_000)
		a.src.SetActive(ring.Whole)
		a.copy(a.start(), n)
		a.apply()
		if got := a.dst.content(t, ring.Whole, false); len(got) != 0 {
			t.Errorf("groups of %d: %d entries are left", n, len(got))
		}
		a.equal()
	}
}

// Of a clearing, the stream brings what lies before the cursor, and the whole key in
// which it lies.
func TestCutClearingTakesTheKeyInWhichItIsCut(t *testing.T) {
	oneGoroutine(t)
	for _, r := range []ring.Range{ring.Whole, {Start: 0x80000000, End: 0x40000000}} {
		for _, part := range []ring.Range{r, {Start: r.Start + 0x10000000, End: r.End}, {Start: r.Start, End: r.Start + 0x10000000}} {
			t.Run(fmt.Sprint(r, part), func(t *testing.T) { cutClearing(t, r, part) })
		}
	}
}

// cutClearing clears a part of a range that is tapped, and of which a copy has come to
// the middle of a key.
func cutClearing(t *testing.T, r, part ring.Range) {
	a := newApart(t)
	key := ""
	for i := 0; key == ""; i++ {
		k := fmt.Sprint("key", i)
		if token := a.src.token([]byte(k)); r.Contains(token) && token-r.Start > 0x60000000 {
			key = k
		}
	}
	a.src.set(t, key, inPieces, 0)
	for i := range 200 {
		a.src.set(t, fmt.Sprint("other", i), "v", 0)
	}
	a.copy(a.start(), 0)
	a.apply()
	a.rc.Close()
	a.rc = a.dst.NewReceiver(r)
	at := within(a.src, key, 3)
	tap, err := a.src.Tap(func(c Change) {
		b, err := a.src.CutBatch(c.Batch, r, at)
		if err != nil {
			t.Error(err)
		}
		a.batches = append(a.batches, b)
	}, r)
	if err != nil {
		t.Fatal(err)
	}
	before := a.src.content(t, r, true)
	if err := a.src.ClearRanges(nil, nil, part); err != nil {
		t.Fatal(err)
	}
	a.apply()
	tap.Close(nil)
	left := a.dst.content(t, r, true)
	for pos := range before {
		k, _ := Position(pos).Split()
		_, there := left[pos]
		passed := layout.ComparePositions(r, Position(pos), at) < 0 || string(k) == key
		if want := !passed || !part.Contains(a.src.token(k)); there != want {
			t.Errorf("%s is there: %t, want %t", describe(pos), there, want)
		}
	}
	a.dst.audit(t)
}
