package store

import (
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Who is told of a change finds it, by whomever it was made, changes within a long
// string and the end of a key's time included.
func TestChangesAreReportedOnceReadable(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.Close()
	type told struct {
		author int64
		key    string
	}
	var got []told
	s.OnChange(func(author int64, keys iter.Seq[[]byte]) func(func()) {
		for key := range keys {
			got = append(got, told{author, string(key)})
			p := PlaceOf(s.token, key)
			_, answer := s.cache.Peek(p, key, nil)
			gone := answer == cache.Absent
			if answer == cache.Miss {
				_, closer, err := s.db.Get(layout.AppendDataPrefix(nil, p, key))
				if gone = err != nil; !gone {
					_ = closer.Close()
				}
			}
			if gone != strings.HasPrefix(string(key), "gone") {
				t.Errorf("%s: gone: %v", key, gone)
			}
		}
		return nil
	})
	change := func(author int64, key string, do func(u *Unit, v Value) error, want ...told) {
		t.Helper()
		u := s.NewUnit()
		u.SetAuthor(author)
		u.Begin(1000, []Place{u.Place([]byte(key))})
		v, err := u.Get([]byte(key))
		if err == nil {
			err = do(u, v)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(got) > 0 {
			t.Errorf("told before the commit: %v", got)
		}
		var done Signal
		if wait, err := u.Commit(&done); err != nil {
			t.Fatal(err)
		} else if wait {
			err = done.Wait()
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: told %v, want %v", key, got, want)
		}
		got = nil
	}
	put := func(value string, expiry int64) func(u *Unit, v Value) error {
		return func(u *Unit, v Value) error { return u.PutString([]byte("a"), v, []byte(value), expiry, false) }
	}
	change(7, "a", put("1", 0), told{7, "a"})
	change(0, "a", func(*Unit, Value) error { return nil })
	long := []byte(strings.Repeat("x", 3*pieceSize))
	change(0, "long", func(u *Unit, v Value) error { return u.PutString([]byte("long"), v, long, 0, true) }, told{0, "long"})
	change(8, "long", func(u *Unit, v Value) error {
		_, err := u.WriteRange([]byte("long"), v, pieceSize+5, []byte("y"))
		return err
	}, told{8, "long"})
	change(0, "gone", func(u *Unit, v Value) error {
		if err := u.PutString([]byte("gone"), v, []byte("x"), 0, false); err != nil {
			return err
		}
		v, err := u.Get([]byte("gone"))
		u.Delete([]byte("gone"), v)
		return err
	}, told{0, "gone"})
	s.OnChange(nil)
	change(0, "a", put("2", 0))
}

// Replies that tell of a change wait until whoever has to know does, also of what was applied
// before the end of the unit.
func TestRepliesWaitUntilChangesAreReported(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.Close()
	dones := make(chan func(), 2)
	s.OnChange(func(int64, iter.Seq[[]byte]) func(func()) { return func(done func()) { dones <- done } })
	u := s.NewUnit()
	for _, flushed := range []bool{false, true} {
		u.Begin(1000, []Place{u.Place([]byte("a"))})
		v, err := u.Get([]byte("a"))
		if err == nil {
			err = u.PutString([]byte("a"), v, []byte("x"), 0, false)
		}
		if err == nil && flushed {
			err = u.Flush()
		}
		var done Signal
		settled := make(chan error, 1)
		if err == nil {
			var wait bool
			if wait, err = u.Commit(&done); !wait {
				t.Fatal("the reply does not wait")
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		go func() { settled <- done.Wait() }()
		select {
		case told := <-dones:
			told()
		case <-settled:
			t.Fatal("the reply has left before the change was told")
		}
		if err := <-settled; err != nil {
			t.Error(err)
		}
	}
	// The next one has nothing of it.
	u.Begin(1000, nil)
	if wait, err := u.Commit(&Signal{}); wait || err != nil || len(dones) > 0 {
		t.Error(wait, err, len(dones))
	}
}
