package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
)

// compared is what two stores do not have alike of a range, step by step.
func compared(t *testing.T, mine, theirs *Store, r ring.Range, at time.Time) (spans []Span) {
	t.Helper()
	for from := Position(nil); !from.AtEnd(); {
		d, err := theirs.Digest(r, from, 50)
		if err != nil {
			t.Fatal(err)
		}
		d.Cut(200)
		if len(d.Groups) == 0 || d.From.Check() != nil {
			t.Fatalf("%+v", d)
		}
		unlike, err := mine.DifferingSpans(r, d)
		if err != nil {
			t.Fatal(err)
		}
		for _, sp := range unlike {
			a, err := mine.LiveSum(r, sp, at)
			if err != nil {
				t.Fatal(err)
			}
			b, err := theirs.LiveSum(r, sp, at)
			if err != nil {
				t.Fatal(err)
			}
			if a != b {
				spans = append(spans, sp)
			}
		}
		from = d.End
	}
	return spans
}

// TestStoresAreCompared: whatever one has and the other has not, or has otherwise, lies in
// a span that is named; what has expired does not count, removed or not; all else is alike.
func TestStoresAreCompared(t *testing.T) {
	oneGoroutine(t)
	rnd := seeded(t)
	for range 20 {
		a, b := openTest(t, memConfig(vfs.NewMem(), FsyncNo)), openTest(t, memConfig(vfs.NewMem(), FsyncNo))
		now := time.Now()
		past, future := now.Add(-time.Hour).UnixMilli(), now.Add(time.Hour).UnixMilli()
		keys := 100 + rnd.IntN(400)
		for i := range keys {
			expiry := int64(0)
			if rnd.IntN(3) == 0 {
				expiry = future
			}
			for _, s := range []*Store{a, b} {
				s.set(t, fmt.Sprint("key", i), fmt.Sprint("value", i), expiry)
			}
		}
		a.SetActive() // none removes anything by itself
		b.SetActive()
		r := ring.Range{Start: ring.Token(rnd.Uint32()), End: ring.Token(rnd.Uint32())}
		if rnd.IntN(4) == 0 {
			r = ring.Whole
		}
		a.set(t, "gone long since", "v", past)
		if spans := compared(t, a, b, r, now); len(spans) > 0 {
			t.Fatalf("%d spans differ of %v", len(spans), r)
		}
		if spans := compared(t, b, a, r, now); len(spans) > 0 {
			t.Fatalf("the other way %d spans differ of %v", len(spans), r)
		}
		key := fmt.Sprint("key", rnd.IntN(keys+1)) // one more than there are
		switch rnd.IntN(3) {
		case 0:
			b.set(t, key, "another", 0)
		case 1:
			b.set(t, key, "another", future+1)
		case 2:
			b.set(t, key, "another", past)
		}
		_, hadIt := a.get(t, key)
		_, hasIt := b.get(t, key)
		token := a.token([]byte(key))
		spans := compared(t, a, b, r, now)
		if want := r.Contains(token) && (hadIt || hasIt); want != (len(spans) == 1) {
			t.Fatalf("%s of %v (%v, %v): %d spans", key, r, hadIt, hasIt, len(spans))
		}
		for _, sp := range spans {
			if tokens, err := sp.Tokens(r); err != nil || !tokens.Contains(token) {
				t.Fatalf("%v, %v without %v", tokens, err, token)
			}
		}
		a.mustClose(t)
		b.mustClose(t)
	}
}

// TestEmptyStoreIsUnlikeAFullOne: a digest of nothing is one, too.
func TestEmptyStoreIsUnlikeAFullOne(t *testing.T) {
	a, b := openTest(t, memConfig(vfs.NewMem(), FsyncNo)), openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer a.mustClose(t)
	defer b.mustClose(t)
	a.fill(t, 100, 10)
	if spans := compared(t, a, b, ring.Whole, time.Now()); len(spans) != 1 {
		t.Errorf("%d spans", len(spans))
	}
	if spans := compared(t, b, a, ring.Whole, time.Now()); len(spans) == 0 {
		t.Error("none")
	}
}

// TestWatchCountsChanges of its ranges, each on its own, and none after Close.
func TestWatchCountsChanges(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	at := func(key string) ring.Range {
		return ring.Range{Start: s.token([]byte(key)), End: s.token([]byte(key)) + 1}
	}
	w := s.Watch(at("a"), at("b"), at("a"))
	s.set(t, "a", "1", 0)
	s.set(t, "c", "1", 0)
	if n := w.Changes(); n[0] != 1 || n[1] != 0 || n[2] != 1 {
		t.Errorf("%v", n)
	}
	s.set(t, "b", "1", 0)
	s.set(t, "b", "2", 0)
	if n := w.Changes(); n[0] != 1 || n[1] != 2 {
		t.Errorf("%v", n)
	}
	w.Close()
	s.set(t, "a", "3", 0)
	if n := w.Changes(); n[0] != 1 {
		t.Errorf("closed, %v", n)
	}
	if set := s.taps.Current(); set != nil && len(set.All()) > 0 {
		t.Error("taps are left")
	}
}

// FuzzUnlike: no digest makes it panic.
func FuzzUnlike(f *testing.F) {
	s, err := Open(memConfig(vfs.NewMem(), FsyncNo))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	d, err := s.Digest(ring.Whole, nil, 10)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(d.Append(nil), uint32(0), uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, start, end uint32) {
		d, err := ParseDigests(b)
		if err != nil {
			return
		}
		r := ring.Range{Start: ring.Token(start), End: ring.Token(end)}
		spans, err := s.DifferingSpans(r, d)
		if err != nil {
			return
		}
		for _, sp := range spans {
			_, _ = sp.Tokens(r)
			_, _ = s.LiveSum(r, sp, time.Now())
		}
		d.Cut(10)
	})
}
