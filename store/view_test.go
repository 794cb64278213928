package store

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
)

// changedUnit is a unit of a store with keys 0 to 99 that has removed every second of them,
// changed every fourth of the others, and set those from 100 to 149; live are what it sees.
func changedUnit(t *testing.T, s *Store) (u *Unit, live map[string]bool) {
	t.Helper()
	name := func(i int) []byte { return []byte(fmt.Sprintf("{%d}%d", i/3, i)) }
	for i := range 100 {
		s.set(t, string(name(i)), "v", 0)
	}
	u = s.NewUnit()
	var places []Place
	for i := range 150 {
		places = append(places, u.Place(name(i)))
	}
	u.Begin(s.now(), places)
	live = map[string]bool{}
	for i := range 150 {
		v, err := u.Get(name(i))
		if err != nil {
			t.Fatal(err)
		}
		if i < 100 && i%2 == 0 {
			u.Delete(name(i), v)
			continue
		}
		live[string(name(i))] = true
		if i >= 100 || i%8 == 1 {
			if err := u.PutString(name(i), v, []byte("new"), 0, false); err != nil {
				t.Fatal(err)
			}
		}
	}
	return u, live
}

func TestUnitScansItsOwnChanges(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	u, live := changedUnit(t, s)
	defer u.Abort()
	if n := s.Keys() + u.NewKeys(0); n != int64(len(live)) {
		t.Errorf("%d keys, want %d", n, len(live))
	}
	for _, count := range []int{1, 7, 1000} {
		seen := map[string]int{}
		for cursor, calls := Cursor(0), 0; ; calls++ {
			n := 0
			next, ended, err := u.ScanIn(ring.Whole, cursor, count, func(e Entry) bool {
				seen[string(e.Key)]++
				n++
				return true
			})
			if err != nil || n > count+2 || !ended && (next <= cursor || n == 0) {
				t.Fatalf("from %d to %d: %d keys of %d, ended %t, %v", cursor, next, n, count, ended, err)
			}
			if cursor = next; ended {
				break
			}
		}
		for key := range live {
			if seen[key] != 1 {
				t.Errorf("by %d: %s was seen %d times", count, key, seen[key])
			}
			delete(seen, key)
		}
		if len(seen) > 0 {
			t.Errorf("by %d: seen, though gone: %v", count, seen)
		}
	}
}

func TestUnitDrawsFairlyFromItsOwnChanges(t *testing.T) {
	randomtest.Draw(t, 3)
	oneGoroutine(t)
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	u, live := changedUnit(t, s)
	defer u.Abort()
	const draws = 6000
	drawn := map[string]int{}
	for range draws {
		key, err := u.RandomKeyIn(0, []ring.Range{ring.Whole})
		if err != nil || !live[string(key)] {
			t.Fatalf("drew %q, %v", key, err)
		}
		drawn[string(key)]++
	}
	for key := range live {
		if n, want := drawn[key], draws/len(live); n < want/4 || n > 4*want {
			t.Errorf("%s was drawn %d times, where %d are to be expected", key, n, want)
		}
	}
}

// Whatever there is, a unit that has removed it draws nothing, and one that has set the only
// key draws that.
func TestUnitDrawsTheLastKey(t *testing.T) {
	s := openTest(t, testConfig(t.TempDir()))
	defer s.mustClose(t)
	for i := range 40 {
		s.set(t, fmt.Sprint(i), "v", 0)
	}
	u := s.NewUnit()
	places := []Place{u.Place([]byte("new"))}
	for i := range 40 {
		places = append(places, u.Place([]byte(fmt.Sprint(i))))
	}
	u.Begin(s.now(), places)
	defer u.Abort()
	for i := range 40 {
		key := []byte(fmt.Sprint(i))
		v, err := u.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		u.Delete(key, v)
	}
	if key, err := u.RandomKeyIn(0, []ring.Range{ring.Whole}); key != nil || err != nil {
		t.Errorf("drew %q, %v, though all are gone", key, err)
	}
	v, err := u.Get([]byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	if err := u.PutString([]byte("new"), v, []byte("v"), 0, false); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if key, err := u.RandomKeyIn(0, []ring.Range{ring.Whole}); string(key) != "new" || err != nil {
			t.Errorf("drew %q, %v", key, err)
		}
	}
}
