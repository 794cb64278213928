package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

// noteEvents collects what a store tells.
func noteEvents(t *testing.T, s *Store, c EventClass) func() []string {
	t.Helper()
	told := make(chan string, 1000)
	s.SetEventSink(func(events []byte, done func()) bool {
		err := EachEvent(events, func(_ EventClass, name, key []byte) { told <- fmt.Sprintf("%s %s", name, key) })
		if err != nil {
			t.Error(err)
		}
		return false
	})
	s.WantEvents(c)
	return func() (list []string) {
		for {
			select {
			case e := <-told:
				list = append(list, e)
			default:
				return list
			}
		}
	}
}

// A commit's events are told once it has settled, and before whoever waits for it is: so long
// as a tap holds it, nothing is.
func TestEventsFollowTheSettledCommit(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	told := noteEvents(t, s, EventString|EventNew)
	var numbers []uint64
	tap, err := s.Tap(func(c Change) { numbers = append(numbers, c.Number) }, ring.Whole)
	if err != nil {
		t.Fatal(err)
	}
	set := func(key string, w Waiter) {
		u := s.NewUnit()
		u.Begin(s.now(), []Place{u.Place([]byte(key))})
		v, err := u.Get([]byte(key))
		if err == nil {
			err = u.PutString([]byte(key), v, []byte("x"), 0, false)
		}
		u.Note(EventString, "set", []byte(key))
		u.Note(EventGeneric, "unwanted", []byte(key))
		if _, commitErr := u.Commit(w); errors.Join(err, commitErr) != nil {
			t.Fatal(err, commitErr)
		}
	}
	var first, second Signal
	set("a", &first)
	set("b", &second)
	s.syncs.SyncNow() // what depends on the disk alone
	if got := told(); got != nil {
		t.Errorf("before the tap has acknowledged anything: %v", got)
	}
	tap.Acked(numbers[1])
	if err := errors.Join(first.Wait(), second.Wait()); err != nil {
		t.Fatal(err)
	}
	if got := told(); !slices.Equal(got, []string{"new a", "set a", "new b", "set b"}) {
		t.Error(got)
	}
	// What fails was not.
	set("a", &first)
	tap.Close(errors.New("gone"))
	if err := first.Wait(); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if got := told(); got != nil {
		t.Errorf("of a commit that failed: %v", got)
	}
	u := s.NewUnit()
	u.Begin(s.now(), []Place{u.Place([]byte("c"))})
	u.Note(EventString, "set", []byte("c"))
	u.Abort()
	u.Begin(s.now(), nil)
	if _, err := u.Commit(nil); err != nil || told() != nil {
		t.Errorf("after an end: %v", err)
	}
}

// A commit that failed may have changed its keys, so EventChanged is told; and the keys of all commits are, without a
// command that notes them.
func TestChangedKeysAreToldOfEveryCommit(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	told := noteEvents(t, s, EventChanged)
	tap, err := s.Tap(func(Change) {}, ring.Whole)
	if err != nil {
		t.Fatal(err)
	}
	var done Signal
	u := s.NewUnit()
	u.Begin(s.now(), []Place{u.Place([]byte("a")), u.Place([]byte("b"))})
	for _, key := range []string{"a", "b"} {
		v, err := u.Get([]byte(key))
		if err == nil {
			err = u.PutString([]byte(key), v, []byte("x"), 0, false)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	u.Note(EventString, "set", []byte("a"))
	if _, err := u.Commit(&done); err != nil {
		t.Fatal(err)
	}
	tap.Close(errors.New("gone"))
	if err := done.Wait(); !errors.Is(err, ErrUnknown) {
		t.Error(err)
	}
	if got := told(); !slices.Equal(got, []string{" a", " b"}) {
		t.Errorf("told: %q", got)
	}
	s.WantEvents(EventString)
	s.inUnit(t, func(u *Unit) {
		v, err := u.Get([]byte("a"))
		if err == nil {
			err = u.PutString([]byte("a"), v, []byte("y"), 0, false)
		}
		if err != nil {
			t.Error(err)
		}
	}, "a")
	if got := told(); got != nil {
		t.Errorf("told without being wanted: %q", got)
	}
}

// Who waits for a commit whose events are still on their way waits for them.
func TestRepliesWaitForEvents(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	dones := make(chan func(), 1)
	s.SetEventSink(func(_ []byte, done func()) bool {
		dones <- done
		return true
	})
	s.WantEvents(EventGeneric)
	u := s.NewUnit()
	u.Begin(s.now(), []Place{u.Place([]byte("a"))})
	v, _ := u.Get([]byte("a"))
	_ = u.PutString([]byte("a"), v, []byte("x"), 0, false)
	u.Note(EventGeneric, "touched", []byte("a"))
	settled := make(chan error, 1)
	if wait, err := u.Commit(settledWith(func(err error) { settled <- err })); !wait || err != nil {
		t.Fatal(wait, err)
	}
	done := <-dones
	select {
	case <-settled:
		t.Error("settled before its events were")
	default:
	}
	done()
	if err := <-settled; err != nil {
		t.Error(err)
	}
}
