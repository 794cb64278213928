package store

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// pinned returns the strings that a pin has.
func pinned(t *testing.T, p *Pin, u *Unit) map[string]string {
	t.Helper()
	all := make(map[string]string)
	for at, ended := CursorAt(0), false; !ended; {
		var keys [][]byte
		var err error
		at, ended, err = p.ScanIn(ring.Whole, at, 3, func(e Entry) bool {
			keys = append(keys, append([]byte(nil), e.Key...))
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			if err := p.View(u, key, func(v Value) error {
				text, err := u.Bytes(key, v)
				all[string(key)] = string(text)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	return all
}

func TestPinKeepsWhatWasThere(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	want := make(map[string]string)
	for i := range 50 {
		key, value := fmt.Sprint("key", i), strings.Repeat(fmt.Sprint(i), 1+i*i*i) // up to some pieces
		s.set(t, key, value, 0)
		want[key] = value
	}
	s.set(t, "expired", "1", s.Now()-1)
	p, thaw, err := s.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	thaw()
	u := s.NewUnit()
	check := func(after string) {
		t.Helper()
		if got := pinned(t, p, u); !maps.Equal(got, want) {
			t.Errorf("after %s: %d values instead of %d, or others", after, len(got), len(want))
		}
	}
	check("nothing")
	for i := range 30 {
		s.set(t, fmt.Sprint("key", 2*i), "new", 0)
	}
	check("changes")
	if err := s.flushTables(); err != nil {
		t.Fatal(err)
	}
	var done Signal
	if err := s.Clear(&done, nil); err != nil || done.Wait() != nil {
		t.Fatal(err)
	}
	check("removal")
	p.s.pins.Discards.Add(1)
	if _, _, err := p.ScanIn(ring.Whole, 0, 1, func(Entry) bool { return true }); !errors.Is(err, ErrDamaged) {
		t.Errorf("after a discard: %v", err)
	}
	p.Close()
	p.Close()
	if err := p.View(u, []byte("key1"), func(Value) error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	// Close of the store closes what is open.
	if p, thaw, err = s.Freeze(); err != nil {
		t.Fatal(err)
	}
	thaw()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.ScanIn(ring.Whole, 0, 1, func(Entry) bool { return true }); !errors.Is(err, ErrClosed) {
		t.Errorf("after the store has closed: %v", err)
	}
	if _, _, err := s.Freeze(); err == nil {
		t.Error("a closed store was pinned")
	}
}

// TestFreezeHoldsCommits has units and a removal of all keys wait, and none of what they do is pinned.
func TestFreezeHoldsCommits(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	s.set(t, "a", "1", 0)
	p, thaw, err := s.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if _, _, err := s.Freeze(); !errors.Is(err, ErrFrozen) {
		t.Errorf("a second one: %v", err)
	}
	ended := make(chan error, 2)
	go func() {
		u := s.NewUnit()
		u.Begin(s.Now(), []Place{u.Place([]byte("b"))})
		v, _ := u.Get([]byte("b"))
		_ = u.PutString([]byte("b"), v, []byte("2"), 0, false)
		_, err := u.Commit(nil)
		ended <- err
	}()
	go func() { ended <- s.Clear(new(Signal), nil) }()
	if value, ok := s.get(t, "a"); value != "1" || !ok {
		t.Errorf("a read finds %q, %v", value, ok)
	}
	select {
	case err := <-ended:
		t.Errorf("a commit did not wait: %v", err)
	default:
	}
	thaw()
	thaw()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if got := pinned(t, p, s.NewUnit()); !maps.Equal(got, map[string]string{"a": "1"}) {
		t.Errorf("pinned is %v", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestFreezeIsRefusedBetweenPartsOfUnit pins nothing while a part of a unit can be seen and another cannot.
func TestFreezeIsRefusedBetweenPartsOfUnit(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	u := s.NewUnit()
	a, b := []byte("a"), []byte("b")
	u.Begin(s.Now(), []Place{u.Place(a), u.Place(b)})
	v, err := u.Get(a)
	if err != nil {
		t.Fatal(err)
	}
	_ = u.PutString(a, v, []byte("1"), 0, false)
	if err := u.Flush(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Freeze(); !errors.Is(err, ErrFrozen) {
		t.Errorf("pinned between parts: %v", err)
	}
	if _, err := u.Commit(nil); err != nil {
		t.Fatal(err)
	}
	p, thaw, err := s.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	thaw()
	p.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestFreezeHasLittleToDoOncePrepared has nothing dirty when commits begin to wait, and nothing that began to wait before.
func TestFreezeHasLittleToDoOncePrepared(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	for i := range 100 {
		s.set(t, fmt.Sprint("key", i), strings.Repeat("v", 5000), 0)
	}
	before := s.cache.DirtyBytes()
	if err := s.PrepareFreeze(); err != nil {
		t.Fatal(err)
	}
	if after := s.cache.DirtyBytes(); before < 256<<10 || after > 0 {
		t.Errorf("%d bytes are dirty, and %d once the store is prepared", before, after)
	}
	prepared := time.Now()
	p, thaw, err := s.Freeze()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	defer thaw()
	if p.Since.Before(prepared) {
		t.Error("units waited before the store was frozen")
	}
}
