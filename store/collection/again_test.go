package collection

import (
	"errors"
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store"
)

// What is opened again is what is there now, whoever has changed it, in whatever unit.
func TestReopenedCollectionIsCurrent(t *testing.T) {
	s := open(t, vfs.NewMem())
	key := []byte("k")
	var l List
	var tb Table
	l.MaxPacked, tb.MaxPacked = 1, 1
	opened := func(u *store.Unit, l *List, want int64) {
		t.Helper()
		if err := l.Open(u, key); err != nil || l.Len() != want {
			t.Fatalf("%d elements, %v, want %d", l.Len(), err, want)
		}
	}
	push := func(u *store.Unit, l *List, was int64) {
		t.Helper()
		opened(u, l, was)
		if err := l.Push(false, []byte("e")); err != nil {
			t.Fatal(err)
		}
	}
	one := []store.Place{s.NewUnit().Place(key)}
	var other List
	n := int64(0)
	pushed := func(u *store.Unit, l *List, times int64) {
		t.Helper()
		for range times {
			push(u, l, n)
			n++
		}
	}
	in(t, s, func(u *store.Unit) { pushed(u, &other, 1) }, "k")
	// Units that have made as many changes as each other.
	for times := range int64(6) {
		in(t, s, func(u *store.Unit) { pushed(u, &l, 4) }, "k")
		in(t, s, func(u *store.Unit) {
			pushed(u, &other, times)
			opened(u, &l, n)
		}, "k")
	}
	in(t, s, func(u *store.Unit) { pushed(u, &l, 4) }, "k")
	in(t, s, func(u *store.Unit) {
		opened(u, &l, n)
		for range 6 {
			pushed(u, &other, 1)
			opened(u, &l, n)
		}
	}, "k")
	u := s.NewUnit()
	for range 3 {
		// Nobody holds it.
		u.Begin(1000, nil)
		opened(u, &l, n)
		in(t, s, func(u *store.Unit) { pushed(u, &other, 1) }, "k")
		opened(u, &l, n)
		u.Abort()
		// It is held, and not changed until it is not held any more, however that ends.
		for i := range 4 {
			u.Begin(1000, one)
			opened(u, &l, n)
			opened(u, &l, n)
			if i%2 == 0 {
				u.Abort()
			} else if _, err := u.Commit(nil); err != nil {
				t.Fatal(err)
			}
			in(t, s, func(u *store.Unit) { pushed(u, &other, 1) }, "k")
		}
		// It is held, and changed by two.
		u.Begin(1000, one)
		pushed(u, &l, 2)
		pushed(u, &other, 1)
		pushed(u, &l, 1)
		if err := tb.Open(u, key, store.Hash); !errors.Is(err, ErrType) {
			t.Errorf("a hash: %v", err)
		}
		if _, err := u.Commit(nil); err != nil {
			t.Fatal(err)
		}
		in(t, s, func(u *store.Unit) { pushed(u, &other, 1) }, "k")
	}
	in(t, s, func(u *store.Unit) {
		if err := tb.Open(u, []byte("t"), store.Hash); err != nil {
			t.Fatal(err)
		}
		if _, err := tb.Set([]byte("field"), []byte("value")); err != nil {
			t.Fatal(err)
		}
		if err := tb.Open(u, []byte("t"), store.Set); !errors.Is(err, ErrType) {
			t.Errorf("a set where a hash is: %v", err)
		}
	}, "t")
}

// A list to which as much comes as goes at an end has nothing left there, and the elements
// that are popped have no place in the cache, where eight have a line.
func TestPoppedElementsAreRemovedLater(t *testing.T) {
	s := open(t, vfs.NewMem())
	for _, front := range []bool{true, false} {
		key := fmt.Sprint(front)
		in(t, s, func(u *store.Unit) {
			l := List{}
			if err := l.Open(u, []byte(key)); err != nil {
				t.Fatal(err)
			}
			for i := range 100 {
				if err := l.Push(false, fmt.Append(nil, i)); err != nil {
					t.Fatal(err)
				}
			}
		}, key)
		lines := s.Stats().CacheLines
		for range 50 {
			in(t, s, func(u *store.Unit) {
				var l List
				if err := l.Open(u, []byte(key)); err != nil {
					t.Fatal(err)
				}
				for range 2 {
					if _, ok, err := l.Pop(front); !ok || err != nil {
						t.Fatal(ok, err)
					}
				}
				if err := l.Push(front, []byte("new")); err != nil {
					t.Fatal(err)
				}
				if left := l.before + l.behind; left > 52 {
					t.Fatalf("%d places may have what was popped", left)
				}
			}, key)
		}
		if now := s.Stats().CacheLines; now < lines-7 || now > lines-5 {
			t.Errorf("%d lines of %d are left, 50 elements are gone", now, lines)
		}
	}
}
