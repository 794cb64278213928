package store

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/ringside-kv/ringside/internal/resptest"
)

// Elements that skip an interval without elements yield what those that do not skip it yield, in
// both directions, with the key's latch and without.
func TestElementsThatSkipYieldTheSame(t *testing.T) {
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	cfg := testConfig("data")
	cfg.FS = vfs.NewMem()
	s := openTest(t, cfg)
	defer s.Close()
	key := []byte("k")
	const top = 60
	name := func(i int) string { return fmt.Sprintf("%03d", i) }
	model := map[string]string{name(0): "0"}
	s.inUnit(t, func(u *Unit) { splitSet(t, u, "k", model) }, "k")
	compare := func(u *Unit, v *Value) {
		t.Helper()
		from, to, back := rnd.IntN(top), rnd.IntN(top), rnd.IntN(2) == 0
		// The longest interval around a place of which the model has nothing, or a part of it.
		low := rnd.IntN(top)
		high := low
		for ; low > 0 && model[name(low-1)] == "" && rnd.IntN(8) > 0; low-- {
		}
		for ; high < top && model[name(high)] == "" && rnd.IntN(8) > 0; high++ {
		}
		if model[name(low)] != "" {
			high = low
		}
		var want, got []string
		for k, value := range model {
			if k >= name(from) && k < name(to) {
				want = append(want, k+"="+value)
			}
		}
		slices.Sort(want)
		if back {
			slices.Reverse(want)
		}
		it := u.Elements(key, v, []byte(name(from)), []byte(name(to)), back)
		if it.Skip([]byte(name(low)), []byte(name(high))); rnd.IntN(3) == 0 && !back && from <= low {
			at := from + rnd.IntN(low-from+1)
			want = slices.DeleteFunc(want, func(e string) bool { return e < name(at) })
			if it.Seek([]byte(name(at))) {
				got = append(got, string(it.Sub())+"="+string(it.Value()))
			}
		}
		for it.Next() {
			got = append(got, string(it.Sub())+"="+string(it.Value()))
		}
		if err := it.Close(); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d to %d, without %d to %d, back %v: %v, %v, want %v", from, to, low, high, back, got, err, want)
		}
	}
	for range rounds(150) {
		s.inUnit(t, func(u *Unit) {
			v, err := u.Get(key)
			if err != nil {
				t.Fatal(err)
			}
			for range rnd.IntN(20) {
				switch i := rnd.IntN(top); rnd.IntN(8) {
				case 0, 1, 2:
					delete(model, name(i))
					u.RemoveElement(key, &v, []byte(name(i)))
				case 3, 4:
					for j := i; j < min(i+12, top); j++ {
						delete(model, name(j))
					}
					u.RemoveElements(key, &v, []byte(name(i)), []byte(name(min(i+12, top))))
				default:
					model[name(i)] = fmt.Sprint(rnd.IntN(1000))
					u.SetElement(key, &v, []byte(name(i)), []byte(model[name(i)]))
				}
				compare(u, &v)
			}
		}, "k")
		s.inUnit(t, func(u *Unit) {
			v, err := u.GetWhole(key)
			if err != nil {
				t.Fatal(err)
			}
			for range 10 {
				compare(u, &v)
			}
		})
	}
}

// leaveTombstones makes a value of n+1 elements, named by name, of which all but the first and the
// last are gone.
func leaveTombstones(t *testing.T, s *Store, key string, name func(int) []byte, n int) {
	t.Helper()
	s.inUnit(t, func(u *Unit) {
		splitSet(t, u, key, map[string]string{string(name(0)): "first", string(name(n)): "last"})
	}, key)
	for _, gone := range []bool{false, true} {
		s.inUnit(t, func(u *Unit) {
			v, err := u.Get([]byte(key))
			if err != nil {
				t.Fatal(err)
			}
			for i := 1; i < n; i++ {
				if gone {
					u.RemoveElement([]byte(key), &v, name(i))
				} else {
					u.SetElement([]byte(key), &v, name(i), []byte("x"))
				}
			}
		}, key)
		if snapshot, err := s.db.NewSnapshot(); err != nil || snapshot.Close() != nil { // or only the newest changes reach the engine
			t.Fatal(err)
		}
	}
}

// Without Skip an iterator passes each tombstone.
func TestSkipPassesNoTombstones(t *testing.T) {
	cfg := testConfig("data")
	cfg.FS = vfs.NewMem()
	s := openTest(t, cfg)
	defer s.Close()
	key := []byte("k")
	name := func(i int) []byte { return fmt.Appendf(nil, "%04d", i) }
	const n = 1000
	leaveTombstones(t, s, "k", name, n)
	for _, back := range []bool{false, true} {
		for _, latched := range []bool{true, false} {
			var latches []string
			if latched {
				latches = []string{"k"}
			}
			for _, skip := range []bool{false, true} {
				s.inUnit(t, func(u *Unit) {
					v, err := u.GetWhole(key)
					if err != nil {
						t.Fatal(err)
					}
					it := u.Elements(key, &v, name(0), name(n+1), back)
					if skip {
						it.Skip(name(1), name(n))
					}
					found := 0
					for it.Next() {
						found++
					}
					passed := it.Passed()
					if err := it.Close(); err != nil || found != 2 {
						t.Fatalf("%d elements, %v, want 2", found, err)
					}
					if skip != (passed < 20) {
						t.Errorf("back %v, latched %v: %d entries passed with skip %v", back, latched, passed, skip)
					}
				}, latches...)
			}
		}
	}
}

func TestMemtableWithManyPassedTombstonesIsWrittenOut(t *testing.T) {
	cfg := testConfig("data")
	cfg.FS = vfs.NewMem()
	s := openTest(t, cfg)
	defer s.Close()
	name := func(i int) []byte { return fmt.Appendf(nil, "%05d", i) }
	const n = 2000
	leaveTombstones(t, s, "k", name, n)
	for _, latches := range [][]string{nil, {"k"}} {
		// The housekeeping of the store sets the number to 0 once a second.
		resptest.WaitFor(t, "tombstones that are passed are counted", func() bool {
			was := s.housekeeper.passedTombstones.Load()
			s.inUnit(t, func(u *Unit) {
				v, err := u.GetWhole([]byte("k"))
				if err != nil {
					t.Fatal(err)
				}
				it := u.Elements([]byte("k"), &v, name(0), name(n+1), false)
				for it.Next() {
				}
				if err := it.Close(); err != nil {
					t.Fatal(err)
				}
			}, latches...)
			return s.housekeeper.passedTombstones.Load() >= was+n
		})
	}
	written := s.db.Metrics().Flush.Count
	s.housekeeper.passedTombstones.Store(maxTombstones - 1)
	s.housekeeper.flushTombstones()
	if got := s.db.Metrics().Flush.Count; got != written {
		t.Fatalf("%d memtables were written out too early", got-written)
	}
	s.housekeeper.passedTombstones.Store(maxTombstones)
	s.housekeeper.flushTombstones()
	resptest.WaitFor(t, "the memtable is written out", func() bool { return s.db.Metrics().Flush.Count > written })
}
