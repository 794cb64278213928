package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// handedOver returns what a tap was handed of random operations, and the store that it
// ends in.
func handedOver(t *testing.T, rnd *rand.Rand) (*Store, [][]byte) {
	t.Helper()
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	t.Cleanup(func() { s.mustClose(t) })
	var batches [][]byte
	var tap *Tap
	tap = mustTap(t, s, ring.Whole, func(c Change) {
		batches = append(batches, c.Batch)
		tap.Acked(c.Number)
	})
	for i := range 4 {
		churnAll(t, s, rnd, 25)
		start(t, s, "v", "cleared"+strconv.Itoa(i))
		first := testToken([]byte("cleared" + strconv.Itoa(i)))
		if err := s.ClearRanges(nil, nil, ring.Range{Start: first, End: first + ring.Token(1+rnd.Uint32()/4)}); err != nil {
			t.Fatal(err)
		}
	}
	churnAll(t, s, rnd, 10)
	settleAll(s)
	tap.Close(nil)
	return s, batches
}

func follower(t *testing.T, ranges ...ring.Range) (*Store, *Receiver) {
	t.Helper()
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	t.Cleanup(func() { s.mustClose(t) })
	s.SetActive()
	return s, s.NewReceiver(ranges...)
}

// lastSettlement is the number of the newest, perhaps one of the store's own.
func (s *Store) lastSettlement() uint64 {
	return s.syncs.LastQueued()
}

// settles waits until all that has been committed so far is settled.
func (s *Store) settles(t *testing.T) {
	t.Helper()
	last := s.lastSettlement()
	resptest.WaitFor(t, "all settlements are durable", func() bool { return s.syncs.IsDurable(last) })
}

// TestBatchesMayBeAppliedTogether, however many: the store is the same in the end, and
// who waits is told once, when all is settled.
func TestBatchesMayBeAppliedTogether(t *testing.T) {
	randomtest.Draw(t, 3)
	rnd := seeded(t)
	src, batches := handedOver(t, rnd)
	parts := manyRanges(170, 2)
	for name, size := range map[string]func() int{
		"each":  func() int { return 1 },
		"few":   func() int { return 1 + rnd.IntN(8) },
		"many":  func() int { return 1 + rnd.IntN(200) },
		"whole": func() int { return len(batches) },
	} {
		if testing.Short() && name != "few" {
			continue
		}
		dst, rc := follower(t, append(parts[0], parts[1]...)...)
		left := batches
		for len(left) > 0 {
			n := min(size(), len(left))
			w := newTold()
			wait, err := rc.ApplyAll(left[:n], w)
			if err != nil {
				t.Fatal(name, err)
			}
			if wait {
				if <-w.ch; w.err != nil {
					t.Error(w.err)
				}
			}
			dst.settles(t)
			left = left[n:]
		}
		if n := len(rc.begun); n > 0 {
			t.Errorf("%s: %d values are still under construction", name, n)
		}
		rc.Close()
		mustEqual(t, ring.Whole, src, dst)
		checkCache(t, dst)
		sweepAll(t, dst)
		dst.audit(t)
		dst.collectAll(t)
		if a := dst.audit(t); a.garbage != 0 {
			t.Errorf("%s: %d values of garbage are left", name, a.garbage)
		}
	}
}

// TestBatchesAreCutByRanges so that the parts make the whole.
func TestBatchesAreCutByRanges(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	rnd := seeded(t)
	src, batches := handedOver(t, rnd)
	dst, whole := follower(t, ring.Whole)
	whole.Close()
	var receivers []*Receiver
	parts := manyRanges(9, 3)
	for _, ranges := range parts {
		receivers = append(receivers, dst.NewReceiver(ranges...))
	}
	cuts := 0
	for _, batch := range batches {
		for i, ranges := range parts {
			cut, err := src.BatchWithin(batch, ranges...)
			if err != nil {
				t.Fatal(err)
			}
			if cut == nil {
				cuts++
				continue
			}
			if _, err := receivers[i].Apply(cut, nil); err != nil {
				t.Fatal(err)
			}
		}
		if all, err := src.BatchWithin(batch, ring.Whole); err != nil || string(all) != string(batch) {
			t.Fatalf("% x of everything is % x, %v", batch, all, err)
		}
		if none, err := src.BatchWithin(batch); err != nil || none != nil {
			t.Fatalf("% x of nothing is % x, %v", batch, none, err)
		}
	}
	if cuts == 0 {
		t.Error("nothing was cut away")
	}
	mustEqual(t, ring.Whole, src, dst)
	sweepAll(t, dst)
	dst.audit(t)
	for _, rc := range receivers {
		rc.Close()
	}
	w := ops.NewWriter(ops.Copied, 0)
	w.Add(&ops.Op{Kind: ops.Clear, A: layout.PositionOf(0), B: layout.EndPosition})
	if _, err := src.BatchWithin(w.Buf, ring.Whole); !errors.Is(err, ErrBatch) {
		t.Errorf("part of a copy: %v", err)
	}
}

// TestReceiverKeepsToItsRanges, which change from batch to batch; what was begun in one
// that it leaves is garbage.
func TestReceiverKeepsToItsRanges(t *testing.T) {
	a, b := ring.Range{Start: 5 << 28, End: 6 << 28}, ring.Range{Start: 15 << 28, End: 1 << 28}
	inA, inB := keyIn(a, 0), keyIn(b, 0)
	out := keyIn(ring.Range{Start: 6 << 28, End: 15 << 28}, 0)
	put := func(keys ...string) []byte {
		w := ops.NewWriter(0, 0)
		for _, k := range keys {
			w.Add(&ops.Op{Kind: ops.Put, Key: []byte(k), A: []byte{1, 0, 'v'}})
		}
		return w.Buf
	}
	begin := func(key string) []byte {
		w := ops.NewWriter(0, 0)
		w.Add(&ops.Op{Kind: ops.Stage, Key: []byte(key), Gen: 7})
		w.Add(&ops.Op{Kind: ops.PutSub, Key: []byte(key), A: []byte{0, 0, 0, 0}, B: []byte("piece")})
		return w.Buf
	}
	dst, rc := follower(t)
	steps := []struct {
		ranges []ring.Range
		batch  []byte
		ok     bool
	}{
		{nil, put(), true},
		{nil, put(inA), false},
		{[]ring.Range{a, b}, put(inA, inB), true},
		{[]ring.Range{a, b}, put(inA, out), false},
		{[]ring.Range{a, b}, begin(inA), true},
		{[]ring.Range{b}, put(inA), false},
		{[]ring.Range{b}, put(inB), true},
		{[]ring.Range{ring.Whole}, put(inA, out), true},
	}
	for i, step := range steps {
		rc.SetRanges(step.ranges...)
		_, err := rc.Apply(step.batch, nil)
		if (err == nil) != step.ok || err != nil && !errors.Is(err, ErrBatch) {
			t.Errorf("step %d: %v", i, err)
		}
		if n := len(rc.begun); n != 0 && i != 4 && i != 5 || n != 1 && i == 4 {
			t.Errorf("step %d: %d values are under construction", i, n)
		}
		if err != nil {
			begun := rc.begun
			rc = dst.NewReceiver()
			rc.begun = begun
		}
	}
	for _, tokens := range []ring.Range{{Start: 5 << 28, End: 7 << 28}, {Start: 4 << 28, End: 6 << 28}, ring.Whole} {
		w := ops.NewWriter(0, 0)
		w.Add(&ops.Op{Kind: ops.Drop, Tokens: tokens})
		rc := dst.NewReceiver(a, b)
		if _, err := rc.Apply(w.Buf, nil); !errors.Is(err, ErrBatch) {
			t.Errorf("a clearing of %v: %v", tokens, err)
		}
		rc.Close()
	}
	rc.Close()
	dst.collectAll(t)
	if a := dst.audit(t); a.garbage != 0 {
		t.Errorf("%d values of garbage are left", a.garbage)
	}
}

// TestReceiverRefusesValueWithoutItsBeginning: who has not seen the first of it does not follow; and
// a number that is used again names another value.
func TestReceiverRefusesValueWithoutItsBeginning(t *testing.T) {
	src := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer src.mustClose(t)
	var rec recorder
	tap := mustTap(t, src, ring.Whole, rec.sink)
	defer tap.Close(nil)
	long := strings.Repeat("a", stageSize) + strings.Repeat("b", stageSize) + strings.Repeat("c", stageSize/2)
	start(t, src, long, "k")
	var batches [][]byte
	for _, c := range rec.changes {
		batches = append(batches, c.Batch)
	}
	if len(batches) < 4 {
		t.Fatalf("%d changes", len(batches))
	}
	for from := 1; from < len(batches); from++ {
		dst, rc := follower(t, ring.Whole)
		if _, err := rc.ApplyAll(batches[from:], nil); !errors.Is(err, ErrGap) {
			t.Errorf("from part %d on: %v", from, err)
		}
		rc.Close()
		if v, ok := dst.get(t, "k"); ok {
			t.Errorf("from part %d on, it is %.20q", from, v)
		}
	}
	dst, rc := follower(t, ring.Whole)
	// Another store's value of the same key and number, which it never finished.
	w := ops.NewWriter(0, 0)
	w.Add(&ops.Op{Kind: ops.Stage, Key: []byte("k"), Gen: stagedNumber(t, batches[0])})
	for i := range 60 {
		w.Add(&ops.Op{Kind: ops.PutSub, Key: []byte("k"), A: []byte{0, 0, 0, byte(i)}, B: []byte("other")})
	}
	if _, err := rc.ApplyAll(slices.Insert(batches, 0, w.Buf), nil); err != nil {
		t.Fatal(err)
	}
	rc.Close()
	mustEqual(t, ring.Whole, src, dst)
	dst.collectAll(t)
	dst.audit(t)
}

func stagedNumber(t *testing.T, batch []byte) (gen uint64) {
	t.Helper()
	if _, err := ops.Each(batch, func(o *ops.Op) error {
		if o.Kind == ops.Stage {
			gen = o.Gen
		}
		return nil
	}); err != nil || gen == 0 {
		t.Fatal(gen, err)
	}
	return gen
}

// TestSpansAreFound as looking at each of them finds them.
func TestSpansAreFound(t *testing.T) {
	rnd := seeded(t)
	for range 200 {
		var ranges []ring.Range
		for range rnd.IntN(40) {
			first := ring.Token(rnd.Uint32())
			ranges = append(ranges, ring.Range{Start: first, End: first + 1 + ring.Token(rnd.Uint32()>>(4+rnd.IntN(28)))})
		}
		if rnd.IntN(10) == 0 {
			ranges = append(ranges, ring.Whole)
		}
		x := layout.NewTokenIndex(layout.SpansOf(ranges))
		for i := range 1000 {
			token := ring.Token(rnd.Uint32())
			if n := len(ranges); i < n {
				token = ranges[i].Start + ring.Token(rnd.IntN(3)) - 1
			} else if i < 2*n {
				token = ranges[i-n].End + ring.Token(rnd.IntN(3)) - 1
			}
			want := slices.ContainsFunc(ranges, func(r ring.Range) bool { return r.Contains(token) })
			at := x.Find(token)
			if (at >= 0) != want || at >= 0 && (x.Spans[at].First > token || x.Spans[at].Last < token) {
				t.Fatalf("%08x in %v: span %d, want %s", uint32(token), ranges, at, strconv.FormatBool(want))
			}
		}
	}
}

// A store that has been asked for elements, and then follows another, answers with what that
// one has made of them.
func TestElementsThatWereReadAreFollowed(t *testing.T) {
	rnd := seeded(t)
	cfg := func() Config {
		c := memConfig(vfs.NewMem(), FsyncNo)
		c.Cache = 1 << 20
		return c
	}
	src, dst := openTest(t, cfg()), openTest(t, cfg())
	defer src.mustClose(t)
	defer dst.mustClose(t)
	model := map[string]string{}
	for i := range 50 {
		model[fmt.Sprint("f", i)] = "0"
	}
	src.inUnit(t, func(u *Unit) { splitSet(t, u, "k", model) }, "k")
	dst.SetActive()
	l := newLink(t, src, dst, ring.Whole)
	for !l.copy.Done() {
		if err := l.chunk(ChunkSize, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	l.drain(t)
	for round := range 40 {
		for range 2 { // what the first time has read from Pebble the second has from the cache
			dst.inUnit(t, func(u *Unit) {
				v, err := u.Get([]byte("k"))
				for i := range 60 {
					k := fmt.Sprint("f", i)
					value, ok, elementErr := u.Element([]byte("k"), &v, []byte(k))
					if want, has := model[k]; err != nil || elementErr != nil || ok != has || string(value) != want {
						t.Fatalf("round %d: %s is %q, %v, want %q", round, k, value, ok, want)
					}
				}
			}, "k")
		}
		src.inUnit(t, func(u *Unit) {
			v, err := u.Get([]byte("k"))
			if err != nil {
				t.Fatal(err)
			}
			for range 20 {
				k := fmt.Sprint("f", rnd.IntN(60))
				if rnd.IntN(2) == 0 {
					model[k] = fmt.Sprint(round)
					u.SetElement([]byte("k"), &v, []byte(k), []byte(model[k]))
				} else {
					delete(model, k)
					u.RemoveElement([]byte("k"), &v, []byte(k))
				}
			}
			u.PutHead([]byte("k"), &v, int64(len(model)), int64(round), nil)
		}, "k")
		l.drain(t)
	}
	l.close(t)
}
