package store

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
)

// startEarly sets a key in a unit that is early, after a look at it that may be blind.
func startEarly(t *testing.T, s *Store, key string, blind bool) *told {
	t.Helper()
	u := s.NewUnit()
	u.SkipAcks(true)
	u.Begin(1, []Place{u.Place([]byte(key))})
	u.IgnoreReads(blind)
	old, err := u.Get([]byte(key))
	if err == nil {
		err = u.PutString([]byte(key), old, []byte("new"), 0, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	w := newTold()
	if wait, err := u.Commit(w); err != nil {
		t.Fatal(err)
	} else if !wait {
		w.Settled(nil)
	}
	return w
}

func TestEarlyRepliesDoNotWaitForTheTap(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	rec := &recorder{}
	tap := mustTap(t, s, ring.Whole, rec.sink)
	<-startEarly(t, s, "a", false).ch
	settleAll(s)
	reads, writes, again := look(t, s, "a"), start(t, s, "x", "a"), startEarly(t, s, "a", false)
	settleAll(s)
	for name, w := range map[string]*told{"a read": reads, "a write of another": writes, "an early write of what it has read": again} {
		if w.done.Load() {
			t.Errorf("%s does not wait", name)
		}
	}
	<-startEarly(t, s, "a", true).ch
	tap.Acked(tap.Last())
	for _, w := range []*told{reads, writes, again} {
		if <-w.ch; w.err != nil {
			t.Error(w.err)
		}
	}
	<-startEarly(t, s, "b", true).ch
	held := newTold()
	s.AwaitAcks(held, ring.Whole)
	if held.done.Load() {
		t.Error("nothing is held")
	}
	tap.Close(errors.New("lost"))
	if <-held.ch; !errors.Is(held.err, ErrUnknown) {
		t.Errorf("held by a tap that is lost: %v", held.err)
	}
}

// Who waits too long is told so; what is held stays so.
func TestHeldRepliesAreGivenUp(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	rec := &recorder{}
	tap := mustTap(t, s, ring.Whole, rec.sink)
	write := start(t, s, "1", "a")
	s.FailUnacked(time.Hour)
	settleAll(s)
	if write.done.Load() {
		t.Fatal("an hour has not passed")
	}
	if err := s.Retap([]Move{{Range: ring.Whole, To: nil}}, nil, func() {}); err != nil {
		t.Fatal(err)
	}
	read, looked := look(t, s, "a"), time.Now()
	resptest.WaitFor(t, "the clock goes on", func() bool { return time.Now().After(looked) })
	s.FailUnacked(0)
	for _, w := range []*told{write, read} {
		if <-w.ch; !errors.Is(w.err, ErrUnacked) {
			t.Error(w.err)
		}
	}
	if read = look(t, s, "a"); read == nil {
		t.Fatal("what was given up is shown")
	}
	tap.Acked(tap.Last())
	if <-read.ch; read.err != nil {
		t.Error(read.err)
	}
}

// Held waits for what lies in the ranges, whoever holds them by now, and only for that.
func TestHeldIsOfRanges(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	rec := &recorder{}
	half := ring.Range{Start: 0, End: 1 << 31}
	rest := ring.Range{Start: 1 << 31, End: 0}
	one, two := mustTap(t, s, half, rec.sink), mustTap(t, s, rest, rec.sink)
	at := func(r ring.Range) string {
		for i := range 1000 {
			if key := string(rune('a'+i%26)) + string(rune('a'+i/26)); r.Contains(PlaceOf(s.token, []byte(key)).Token()) {
				return key
			}
		}
		t.Fatal("no key")
		return ""
	}
	wait := func(r ring.Range) *told {
		w := newTold()
		s.AwaitAcks(w, r)
		return w
	}
	<-wait(ring.Whole).ch
	<-startEarly(t, s, at(half), true).ch
	first := wait(half)
	<-wait(rest).ch
	if err := s.Retap([]Move{{Range: half, To: two}}, nil, func() {}); err != nil {
		t.Fatal(err)
	}
	moved := wait(half)
	two.Acked(one.Last() + 10)
	if first.done.Load() || moved.done.Load() {
		t.Error("what the first tap holds is not waited for")
	}
	one.Acked(one.Last())
	<-first.ch
	<-moved.ch
	wrapped := ring.Range{Start: 3 << 30, End: 1 << 30}
	<-wait(wrapped).ch
}
