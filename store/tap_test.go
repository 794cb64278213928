package store

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/ops"
)

// A told is a Waiter that says whether it was told.
type told struct {
	done atomic.Bool
	err  error
	ch   chan struct{}
}

func newTold() *told { return &told{ch: make(chan struct{})} }

func (w *told) Settled(err error) {
	w.err = err
	if w.done.Swap(true) {
		panic("told twice")
	}
	close(w.ch)
}

// A recorder is a sink that keeps what it is given.
type recorder struct {
	mu      sync.Mutex
	changes []Change
}

func (r *recorder) sink(c Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changes = append(r.changes, c)
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.changes)
}

func mustTap(t *testing.T, s *Store, r ring.Range, sink func(Change)) *Tap {
	t.Helper()
	tap, err := s.Tap(sink, r)
	if err != nil {
		t.Fatal(err)
	}
	return tap
}

// start begins to set a key, and returns who is told when that may be known.
func start(t *testing.T, s *Store, value string, keys ...string) *told {
	t.Helper()
	u := s.NewUnit()
	var places []Place
	for _, k := range keys {
		places = append(places, u.Place([]byte(k)))
	}
	u.Begin(s.now(), places)
	for _, k := range keys {
		v, err := u.Get([]byte(k))
		if err == nil {
			err = u.PutString([]byte(k), v, []byte(value), 0, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	w := newTold()
	if wait, err := u.Commit(w); err != nil || !wait {
		t.Fatal(wait, err)
	}
	return w
}

// look reads a key and returns who is told when that may be known; nil: at once.
func look(t *testing.T, s *Store, key string) *told {
	t.Helper()
	u := s.NewUnit()
	u.Begin(s.now(), nil)
	if _, err := u.Get([]byte(key)); err != nil {
		t.Fatal(err)
	}
	w := newTold()
	wait, err := u.Commit(w)
	if err != nil {
		t.Fatal(err)
	}
	if !wait {
		return nil
	}
	return w
}

// settleAll waits until all that has been committed is as durable as the mode demands.
func settleAll(s *Store) {
	var done Signal
	s.syncs.Add(&done)
	_ = done.Wait()
}

// TestRepliesWaitForTheTap: neither who wrote nor who reads what was written is answered
// before it is acknowledged, whatever is durable here.
func TestRepliesWaitForTheTap(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	s.set(t, "before", "1", 0)
	var rec recorder
	tap := mustTap(t, s, ring.Whole, rec.sink)
	w := start(t, s, "1", "a")
	if rec.count() != 1 {
		t.Fatalf("%d changes were handed over before Commit returned, want 1", rec.count())
	}
	r := look(t, s, "a")
	if r == nil {
		t.Fatal("what is not acknowledged is shown")
	}
	if look(t, s, "before") != nil {
		t.Error("what was there before waits")
	}
	all := newTold()
	if !s.AwaitAll(all) {
		t.Fatal("a scan shows what is not acknowledged")
	}
	settleAll(s)
	for _, x := range []*told{w, r, all} {
		if x.done.Load() {
			t.Fatal("a reply left before the change was acknowledged")
		}
	}
	tap.Acked(rec.changes[0].Number)
	for _, x := range []*told{w, r, all} {
		if <-x.ch; x.err != nil {
			t.Error(x.err)
		}
	}
	settleAll(s)
	if look(t, s, "a") != nil {
		t.Error("what is acknowledged waits")
	}
	// A tap that ends with an error takes the replies with it.
	w = start(t, s, "2", "a")
	r = look(t, s, "a")
	tap.Close(errors.New("no more"))
	for _, x := range []*told{w, r} {
		if <-x.ch; !errors.Is(x.err, ErrUnknown) {
			t.Errorf("told %v", x.err)
		}
	}
	w = start(t, s, "3", "a")
	if <-w.ch; w.err != nil || rec.count() != 2 {
		t.Errorf("after its end: %v, %d changes", w.err, rec.count())
	}
}

// TestOneTapDoesNotWaitForAnother, though they share latches.
func TestOneTapDoesNotWaitForAnother(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	low, high := ring.Range{Start: 0, End: 1 << 31}, ring.Range{Start: 1 << 31, End: 0}
	var recLow recorder
	var lowTap, highTap *Tap
	lowTap = mustTap(t, s, low, recLow.sink)
	defer lowTap.Close(nil)
	highTap = mustTap(t, s, high, func(c Change) { highTap.Acked(c.Number) })
	defer highTap.Close(nil)
	if _, err := s.Tap(recLow.sink, ring.Range{Start: 5, End: 6}); !errors.Is(err, ErrOverlap) {
		t.Errorf("a second tap of the same range: %v", err)
	}
	keys := map[bool]string{}
	for i := 0; len(keys) < 2; i++ {
		k := strings.Repeat("k", i)
		keys[low.Contains(testToken([]byte(k)))] = k
	}
	w := start(t, s, "v", keys[true])
	h := start(t, s, "v", keys[false])
	<-h.ch
	both := start(t, s, "v", keys[true], keys[false])
	if n := recLow.count(); n != 2 {
		t.Fatalf("%d changes of the lower half, want 2", n)
	}
	settleAll(s)
	if w.done.Load() || both.done.Load() {
		t.Fatal("a reply left early")
	}
	// As if the latches were shared: what the other was handed is newer.
	for i := range s.latches {
		s.latches[i].NoteTapped(highTap.Last() + 100)
	}
	if look(t, s, keys[false]) != nil {
		t.Error("it waits for the other tap")
	}
	r := look(t, s, keys[true])
	lowTap.Acked(recLow.changes[1].Number)
	<-w.ch
	<-both.ch
	if r == nil {
		t.Fatal("what is not acknowledged is shown")
	}
	<-r.ch
}

// TestTapHandsOverWholeUnits: one batch for what a unit did to the range, with the last
// state of each key.
func TestTapHandsOverWholeUnits(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	var rec recorder
	tap := mustTap(t, s, ring.Whole, rec.sink)
	defer tap.Close(nil)
	u := s.NewUnit()
	a, b := []byte("a"), []byte("b")
	u.Begin(s.now(), []Place{u.Place(a), u.Place(b)})
	for _, value := range []string{"1", "2"} {
		for _, k := range [][]byte{a, b} {
			v, err := u.Get(k)
			if err == nil {
				err = u.PutString(k, v, []byte(value), 0, false)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	v, _ := u.Get(b)
	u.Delete(b, v)
	if _, err := u.Commit(nil); err != nil {
		t.Fatal(err)
	}
	if len(rec.changes) != 1 {
		t.Fatalf("%d changes", len(rec.changes))
	}
	var got []string
	_, err := ops.Each(rec.changes[0].Batch, func(o *ops.Op) error {
		got = append(got, string('0'+rune(o.Kind))+string(o.Key)+string(o.A))
		return nil
	})
	if want := "1a\x01\x002 4b"; err != nil || strings.Join(got, " ") != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
}

// TestAbandonedValuesLeaveNothing: a long value that a unit begins and gives up is
// garbage where the parts went.
func TestAbandonedValuesLeaveNothing(t *testing.T) {
	randomtest.DrawShort(t, 4)
	src := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer src.mustClose(t)
	dst := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer dst.mustClose(t)
	l := newLink(t, src, dst, ring.Whole)
	for !l.copy.Done() {
		if err := l.chunk(ChunkSize, 0, false); err != nil {
			t.Fatal(err)
		}
	}
	rnd := seeded(t)
	for range 50 {
		writeFilled(t, src, "k", byte('a'+rnd.IntN(26)), 2*pieceSize+rnd.IntN(3*pieceSize), rnd.IntN(4))
	}
	resptest.WaitFor(t, "the stream is worked off", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.queue) == 0 && l.tap.AllAcked()
	})
	if n := len(l.rc.begun); n != 0 {
		t.Errorf("%d values are still under construction", n)
	}
	l.close(t)
	mustEqual(t, ring.Whole, src, dst)
	dst.audit(t)
	dst.collectAll(t)
	if a := dst.audit(t); a.garbage != 0 {
		t.Errorf("%d values of garbage are left", a.garbage)
	}
}

// A unit that may write in a tapped range asks before it takes a latch; others do not.
func TestTapPacesItsRange(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	u := s.NewUnit()
	key := []byte("a")
	p := u.Place(key)
	r := ring.Range{Start: p.Token(), End: p.Token() + 1}
	tap, err := s.Tap(func(Change) {}, r)
	if err != nil {
		t.Fatal(err)
	}
	asked := 0
	tap.Pace(func() {
		asked++
		l := &s.latches[latch.Of(p)]
		if !l.TryLock() {
			t.Error("it is asked with the latch held")
			return
		}
		l.Unlock()
	})
	begin := func(want int, places ...Place) {
		t.Helper()
		asked = 0
		u.Begin(1, places)
		u.Abort()
		if asked != want {
			t.Errorf("asked %d times, not %d", asked, want)
		}
	}
	begin(1, p, p|1, p)
	begin(0)
	begin(0, p+1<<32)
	begin(1, p+1<<32, p)
	tap.Close(nil)
	begin(0, p)
}
