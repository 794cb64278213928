package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// splitSet makes the key a collection of elements, whatever it was.
func splitSet(t *testing.T, u *Unit, key string, elements map[string]string) {
	t.Helper()
	v, err := u.Get([]byte(key))
	if err == nil {
		u.Delete([]byte(key), v)
		v = Value{}.WithPlaceOf(v)
		err = u.Split([]byte(key), &v, Hash)
	}
	if err != nil {
		t.Error(err)
		return
	}
	for sub, value := range elements {
		u.SetElement([]byte(key), &v, []byte(sub), []byte(value))
	}
	u.PutHead([]byte(key), &v, int64(len(elements)), 1, nil)
}

// An element that each of the collections has which replace one another is found whenever it
// is looked for, although the entries of the one that a reader has found are removed at once.
func TestElementOfOneThatIsReplacedIsFound(t *testing.T) {
	cfg := testConfig("data")
	cfg.FS = vfs.NewMem()
	s := openTest(t, cfg)
	defer s.Close()
	replace := func(n int) {
		s.inUnit(t, func(u *Unit) { splitSet(t, u, "k", map[string]string{"x": fmt.Sprint(n)}) }, "k")
	}
	replace(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for n := 1; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			replace(n)
			if _, err := s.housekeeper.collectGarbage(); err != nil {
				t.Error(err)
			}
		}
	}()
	u := s.NewUnit()
	reads := 30_000
	if testing.Short() {
		reads = 6000
	}
	for range reads {
		u.Begin(1000, nil)
		v, value, ok, err := u.GetElement([]byte("k"), func(*Value) []byte { return []byte("x") })
		if err != nil || !ok || len(value) == 0 || v.Type != Hash || v.Count != 1 {
			t.Errorf("%+v, %q, %v, %v", v, value, ok, err)
			break
		}
		if _, err := u.Commit(nil); err != nil {
			t.Fatal(err)
		}
	}
	u.Abort()
	close(stop)
	<-stopped
}

// An item that a unit sets and removes is not there, though others of its row are.
func TestItemRemovedInItsUnitDoesNotExist(t *testing.T) {
	cfg := testConfig("data")
	cfg.FS = vfs.NewMem()
	s := openTest(t, cfg)
	defer s.Close()
	item := func(n byte) []byte { return []byte{ItemKind, 0, 0, 0, 0, 0, 0, 1, n} }
	s.inUnit(t, func(u *Unit) {
		splitSet(t, u, "k", nil)
		v, err := u.Get([]byte("k"))
		if err != nil {
			t.Fatal(err)
		}
		for n := range byte(4) {
			u.SetElement([]byte("k"), &v, item(n), []byte{'x', n})
		}
		u.RemoveElement([]byte("k"), &v, item(2))
		u.SetElement([]byte("k"), &v, item(4), []byte{'x', 4})
		u.PutHead([]byte("k"), &v, 4, 1, nil)
	}, "k")
	s.inUnit(t, func(u *Unit) {
		v, err := u.Get([]byte("k"))
		if err != nil {
			t.Fatal(err)
		}
		for n := range byte(5) {
			value, ok, err := u.Element([]byte("k"), &v, item(n))
			if want := string([]byte{'x', n}); err != nil || ok != (n != 2) || ok && string(value) != want {
				t.Errorf("item %d: %q, %v, %v", n, value, ok, err)
			}
		}
	}, "k")
}

// Elements are gone over in order, either way and between any bounds, with what the unit has
// changed and not applied.
func TestElementsAreInOrder(t *testing.T) {
	oneGoroutine(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	cfg := testConfig("data")
	cfg.FS = vfs.NewMem()
	s := openTest(t, cfg)
	defer s.Close()
	key := []byte("k")
	model := map[string]string{"m": "0"}
	s.inUnit(t, func(u *Unit) { splitSet(t, u, "k", model) }, "k")
	sub := func() string { return string(rune('a' + rnd.IntN(26))) }
	look := func(u *Unit, v *Value) {
		t.Helper()
		from, to, back := "", "", rnd.IntN(2) == 0
		if rnd.IntN(2) == 0 {
			from = sub()
		}
		if rnd.IntN(2) == 0 {
			to = sub()
		}
		var want, got []string
		for _, k := range slices.Sorted(maps.Keys(model)) {
			if k >= from && (to == "" || k < to) {
				want = append(want, k+model[k])
			}
		}
		if back {
			slices.Reverse(want)
		}
		it := u.Elements(key, v, []byte(from), []byte(to), back)
		for it.Next() {
			got = append(got, string(it.Sub())+string(it.Value()))
		}
		if err := it.Close(); err != nil || !slices.Equal(got, want) {
			t.Fatalf("from %q to %q, back %v: %v, %v, want %v", from, to, back, got, err, want)
		}
	}
	for range rounds(400) {
		s.inUnit(t, func(u *Unit) {
			v, err := u.Get(key)
			if err != nil {
				t.Fatal(err)
			}
			for n := range rnd.IntN(40) {
				k := sub()
				switch rnd.IntN(12) {
				default:
					model[k] = fmt.Sprint(n)
					u.SetElement(key, &v, []byte(k), []byte(model[k]))
				case 0, 1, 2:
					delete(model, k)
					u.RemoveElement(key, &v, []byte(k))
				case 3: // of a kind of which no element has a line
					from, to := "n", "s"[:rnd.IntN(2)]+"q"
					maps.DeleteFunc(model, func(k, _ string) bool { return k >= from && k < to })
					u.RemoveElements(key, &v, []byte(from), []byte(to))
				case 4, 5: // from the last one on, as LPUSH does
					for c := byte('t'); c >= 'l'; c-- {
						model[string(c)] = fmt.Sprint(n)
						u.SetElement(key, &v, []byte{c}, []byte(model[string(c)]))
					}
				}
				value, ok, err := u.Element(key, &v, []byte(k))
				if want, has := model[k]; err != nil || ok != has || string(value) != want {
					t.Fatalf("%s is %q, %v, %v, want %q", k, value, ok, err, want)
				}
				if rnd.IntN(8) == 0 {
					look(u, &v)
				}
			}
		}, "k")
		s.inUnit(t, func(u *Unit) {
			v, err := u.GetWhole(key)
			if err != nil {
				t.Fatal(err)
			}
			look(u, &v)
			k := sub()
			value, ok, err := u.Element(key, &v, []byte(k))
			if want, has := model[k]; err != nil || ok != has || string(value) != want {
				t.Fatalf("%s is %q, %v, %v, want %q", k, value, ok, err, want)
			}
		})
	}
}

// What a unit changes from the last element to the first is in its batch from the first to the
// last: a memtable searches for the place of all that does not follow the key before.
func TestElementsThatComeBackwardsAreTurnedRound(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.Close()
	for _, test := range [][2]string{{"cba", "abc"}, {"abc", "abc"}, {"bca", "bca"}, {"cbb", "cbb"}} {
		s.inUnit(t, func(u *Unit) {
			splitSet(t, u, "k", nil)
			v, err := u.Get([]byte("k"))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range []byte(test[0]) {
				u.SetElement([]byte("k"), &v, []byte{c}, nil)
			}
			u.LeaveElement([]byte("k"), &v, []byte("A"))
			before := u.batch.Reader()
			u.writeElements()
			after := u.batch.Reader()
			var got []byte
			for r := after[len(before):]; len(r) > 0; {
				_, key, _, ok, err := r.Next()
				if !ok || err != nil {
					t.Fatal(err)
				}
				got = append(got, key[len(key)-1])
			}
			if string(got) != test[1] {
				t.Errorf("%s is written as %s, want %s", test[0], got, test[1])
			}
		}, "k")
	}
}
