package collection

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// listed returns all of a list, as it is seen without latches.
func listed(t *testing.T, s *store.Store, key string) (got []string) {
	t.Helper()
	in(t, s, func(u *store.Unit) {
		var l List
		if err := l.OpenWhole(u, []byte(key)); err != nil {
			t.Fatal(err)
		}
		if err := l.Range(0, l.Len()-1, false, func(_ int64, e []byte) bool { got = append(got, string(e)); return true }); err != nil {
			t.Fatal(err)
		}
		if l.Len() != int64(len(got)) {
			t.Fatalf("%d elements, %d are said to be", len(got), l.Len())
		}
	})
	return got
}

// twins returns two keys of one place, where all have one token.
func twins(t *testing.T, u *store.Unit) (a, b string) {
	t.Helper()
	seen := make(map[store.Place]string)
	for i := range 1 << 20 {
		b = fmt.Sprint("list", i)
		if a = seen[u.Place([]byte(b))]; a != "" {
			return a, b
		}
		seen[u.Place([]byte(b))] = b
	}
	t.Fatal("no two keys of one place")
	return "", ""
}

// Lists of one place that are changed in turn, elements of the same numbers right behind each
// other, do not get each other's, neither in the cache nor in what is counted.
func TestListsInTurnStayApart(t *testing.T) {
	s, err := store.Open(store.Config{
		Dir: "data", Strategy: "buckets", Hash: "native", Token: func([]byte) ring.Token { return 7 },
		FS: vfs.NewMem(), Cache: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	a, b := twins(t, s.NewUnit())
	lists := make(map[string]*List)
	model := make(map[string][]string)
	for _, key := range []string{a, b} {
		lists[key] = &List{}
		lists[key].MaxPacked = 1
	}
	size := len(a) + len(b)
	for round := range 8 {
		in(t, s, func(u *store.Unit) {
			for i := range 20 {
				for key, l := range lists {
					element := fmt.Sprint(key, round, i)
					if err := l.Open(u, []byte(key)); err != nil {
						t.Fatal(err)
					}
					if err := l.Push(round%2 == 0, []byte(element)); err != nil {
						t.Fatal(err)
					}
					size += len(element)
					if round%2 == 0 {
						model[key] = slices.Insert(model[key], 0, element)
					} else {
						model[key] = append(model[key], element)
					}
				}
			}
		}, a, b)
	}
	for key, want := range model {
		in(t, s, func(u *store.Unit) {
			var l List
			if err := l.Open(u, []byte(key)); err != nil || l.Len() != int64(len(want)) {
				t.Fatalf("%s has %d elements, %v, want %d", key, l.Len(), err, len(want))
			}
			for i := range want {
				if got, ok, err := l.Index(int64(i)); !ok || err != nil || string(got) != want[i] {
					t.Fatalf("element %d of %s is %q, %v, %v, want %q", i, key, got, ok, err, want[i])
				}
			}
		}, key)
	}
	if load, err := s.RangeLoad(ring.Whole); err != nil || load.Bytes != int64(size) {
		t.Errorf("%+v, %v, want %d bytes", load, err, size)
	}
}

// What a unit has read of a list, for one that follows in the same go, is forgotten when it ends,
// and not used without the latch: others change it.
func TestListsAreReadAnew(t *testing.T) {
	s := open(t, vfs.NewMem())
	key := []byte("list")
	opened := func(u *store.Unit) *List {
		l := &List{}
		l.MaxPacked = 1
		if err := l.Open(u, key); err != nil {
			t.Fatal(err)
		}
		return l
	}
	set := func(i int64, element string) {
		in(t, s, func(u *store.Unit) {
			if err := opened(u).Set(i, []byte(element)); err != nil {
				t.Fatal(err)
			}
		}, "list")
	}
	u := s.NewUnit()
	sees := func(i int64, want string) {
		t.Helper()
		if got, ok, err := opened(u).Index(i); string(got) != want || !ok || err != nil {
			t.Errorf("element %d is %q, %v, %v, want %q", i, got, ok, err, want)
		}
	}
	in(t, s, func(u *store.Unit) {
		for _, element := range []string{"a", "b", "c", "d"} {
			if err := opened(u).Push(false, []byte(element)); err != nil {
				t.Fatal(err)
			}
		}
	}, "list")
	held := []store.Place{u.Place(key)}
	u.Begin(1000, held)
	sees(0, "a")
	sees(1, "b")
	u.Abort()
	set(2, "C")
	u.Begin(1000, held)
	sees(2, "C")
	u.Abort()
	u.Begin(1000, nil)
	sees(2, "C")
	set(3, "D")
	sees(3, "D")
	u.Abort()
}

// Whatever is done to lists, in units of any size and with any limit of what is kept whole,
// they hold what a slice would, within the unit and behind it, and after the store was
// opened again.
func TestListIsASlice(t *testing.T) {
	oneGoroutine(t)
	for run := range 9 {
		limit, chunks := []int{1, 40, DefaultPacked}[run%3], []string{"without chunks", "with chunks", "sometimes with chunks"}[run/3]
		t.Run(fmt.Sprint(limit, " ", chunks), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			rnd := rand.New(rand.NewPCG(seed, 0))
			fs := vfs.NewMem()
			s := open(t, fs)
			keys := []string{"a", "b"}
			model := map[string][]string{}
			l := List{oddMost: 1 + rnd.Int64N(6)}
			l.MaxPacked = limit
			for range rounds(300) {
				in(t, s, func(u *store.Unit) {
					for range 1 + rnd.IntN(20) {
						l.Chunks = chunks == "with chunks" || chunks != "without chunks" && rnd.IntN(100) == 0
						changeList(t, u, rnd, &l, model, keys[rnd.IntN(2)])
					}
				}, keys...)
				key := keys[rnd.IntN(2)]
				for _, key := range keys {
					fewLeft(t, s, key, l.oddMost)
					wantEntries(t, s, key)
				}
				if got := listed(t, s, key); !slices.Equal(got, model[key]) {
					t.Fatalf("%s is %v, want %v", key, got, model[key])
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, fs)
			size := int64(0)
			for _, key := range keys {
				if got := listed(t, s, key); !slices.Equal(got, model[key]) {
					t.Fatalf("%s is %v after the store was opened again, want %v", key, got, model[key])
				}
				in(t, s, func(u *store.Unit) {
					if v, _ := u.Get([]byte(key)); v.Exists() {
						size += v.Size + int64(len(key))
					}
				})
			}
			if load, err := s.RangeLoad(ring.Whole); err != nil || load.Bytes != size {
				t.Errorf("%+v, %v, want %d bytes", load, err, size)
			}
		})
	}
}

// fewLeft fails unless the elements that a list has, and fewer than so many at each end that
// it had, are all that there is.
func fewLeft(t *testing.T, s *store.Store, key string, most int64) {
	t.Helper()
	in(t, s, func(u *store.Unit) {
		var l List
		if err := l.Open(u, []byte(key)); err != nil {
			t.Fatal(err)
		}
		if l.v.Whole() {
			return
		}
		if l.before >= most || l.behind >= most {
			t.Fatalf("%s: %d are left before, %d behind, no more than %d are to be", key, l.before, l.behind, most-1)
		}
		low, high := l.at(nil, -l.before), l.at(nil, l.Len()+l.behind)
		there := int64(0)
		it := u.Elements(l.key, &l.v, []byte{kindItem}, []byte{kindItem + 1}, false)
		for it.Next() {
			if bytes.Compare(it.Sub(), low) < 0 || bytes.Compare(it.Sub(), high) >= 0 {
				t.Fatalf("%s: %x is from before %x, or not before %x", key, it.Sub(), low, high)
			}
			there++
		}
		if l.v.Chunks {
			there = l.Len() // see wantEntries
		}
		if err := it.Close(); err != nil || there < l.Len() {
			t.Fatalf("%s: %d of %d elements, %v", key, there, l.Len(), err)
		}
	}, key)
}

// changeList does one thing to a list and to its model, and looks at what comes of it.
func changeList(t *testing.T, u *store.Unit, rnd *rand.Rand, l *List, model map[string][]string, key string) {
	t.Helper()
	m := model[key]
	if err := l.Open(u, []byte(key)); err != nil {
		t.Fatal(err)
	}
	value := fmt.Sprint(rnd.IntN(1000))
	if rnd.IntN(8) == 0 { // too long to be left where it is
		value = fmt.Sprintf("%0300s", value)
	}
	n := len(m)
	var err error
	switch what := rnd.IntN(32); {
	case what < 6:
		m, err = append(m, value), l.Push(false, []byte(value))
	case what < 12:
		m, err = slices.Insert(m, 0, value), l.Push(true, []byte(value))
	case what < 18 && n > 0:
		front := rnd.IntN(2) == 0
		i := n - 1
		if front {
			i = 0
		}
		e, ok, popErr := l.Pop(front)
		if err = popErr; !ok || string(e) != m[i] {
			t.Fatalf("pop %v: %q %v %v, want %s", front, e, ok, err, m[i])
		}
		m = slices.Delete(m, i, i+1)
	case what < 21 && n > 0:
		i := rnd.IntN(n)
		m[i], err = value, l.Set(int64(i), []byte(value))
	case what < 24:
		i := rnd.IntN(n + 1)
		m, err = slices.Insert(m, i, value), l.Insert(int64(i), []byte(value))
	case what < 26:
		var numbers []int64
		var kept []string
		for i, e := range m {
			if rnd.IntN(4) == 0 {
				numbers = append(numbers, int64(i))
			} else {
				kept = append(kept, e)
			}
		}
		m, err = kept, l.Remove(numbers)
	case (what == 26 || what > 29) && n > 0:
		from, to := rnd.IntN(n), rnd.IntN(n)
		if rnd.IntN(3) > 0 { // most of it stays
			from, to = rnd.IntN(n/3+1), n-1-rnd.IntN(n/3+1)
		}
		if from > to {
			m = nil
		} else {
			m = slices.Clone(m[from : to+1])
		}
		err = l.Trim(int64(from), int64(to))
	case what == 27:
		m = nil
		for range rnd.IntN(40) {
			m = append(m, fmt.Sprint(rnd.IntN(1000)))
		}
		err = l.Replace(func(yield func([]byte) error) error {
			for _, e := range m {
				if err := yield([]byte(e)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	model[key] = m
	if rnd.IntN(2) == 0 { // who goes on with the same one is to see what a new one does
		again := List{oddMost: l.oddMost, Chunks: l.Chunks}
		again.MaxPacked = l.MaxPacked
		*l = again
	}
	if err := l.Open(u, []byte(key)); err != nil || l.Len() != int64(len(m)) {
		t.Fatalf("%v, %d elements, want %d", err, l.Len(), len(m))
	}
	var got []string
	if err := l.Range(0, l.Len()-1, false, func(_ int64, e []byte) bool { got = append(got, string(e)); return true }); err != nil || !slices.Equal(got, m) {
		t.Fatalf("%v, %v, want %v", got, err, m)
	}
	for range 3 {
		i := rnd.IntN(2*len(m)+3) - len(m) - 1
		at := i
		if at < 0 {
			at += len(m)
		}
		e, ok, err := l.Index(int64(i))
		if there := at >= 0 && at < len(m); err != nil || ok != there || there && string(e) != m[at] {
			t.Fatalf("element %d of %v: %q %v %v", i, m, e, ok, err)
		}
	}
}

// In long lists, elements in the middle come and go as at the ends.
func TestLongListIsASlice(t *testing.T) {
	oneGoroutine(t)
	for _, chunks := range []bool{false, true} {
		t.Run(fmt.Sprint("chunks ", chunks), func(t *testing.T) { changeLongList(t, chunks) })
	}
}

func changeLongList(t *testing.T, chunks bool) {
	s := open(t, vfs.NewMem())
	const n = 3*maxShift + 10
	var m []string
	change := func(f func(l *List) error) {
		t.Helper()
		in(t, s, func(u *store.Unit) {
			l := List{Chunks: chunks}
			l.MaxPacked = DefaultPacked
			err := l.Open(u, []byte("k"))
			if err == nil {
				err = f(&l)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, "k")
		if got := listed(t, s, "k"); !slices.Equal(got, m) {
			t.Fatalf("%d elements are wrong, there should be %d", len(got), len(m))
		}
	}
	for i := range n {
		m = append(m, fmt.Sprint(i))
	}
	change(func(l *List) error {
		for _, e := range m {
			if err := l.Push(false, []byte(e)); err != nil {
				return err
			}
		}
		return nil
	})
	for _, at := range []int{0, 1, 50, maxShift, maxShift + 1, n / 2, n - maxShift - 2, n - maxShift, n - 50, n - 1, n} {
		m = slices.Insert(m, at, "new")
		change(func(l *List) error { return l.Insert(int64(at), []byte("new")) })
	}
	for _, at := range []int{0, 1, 50, maxShift, n / 2, n - maxShift, n - 50, len(m) - 20} {
		m = slices.Delete(m, at, at+1)
		change(func(l *List) error { return l.Remove([]int64{int64(at)}) })
	}
	m = m[100 : len(m)-200]
	change(func(l *List) error { return l.Trim(100, l.Len()-201) })
	m = m[300:400]
	change(func(l *List) error { return l.Trim(300, 399) })
}
