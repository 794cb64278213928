package collection

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

func token(key []byte) ring.Token { return ring.Token(xxhash.Sum64(key)) }

func open(t *testing.T, fs vfs.FS) *store.Store {
	t.Helper()
	s, err := store.Open(store.Config{Dir: "data", Strategy: "buckets", Hash: "native", Token: token, FS: fs, Cache: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// rounds is how often something random is tried, of which n is the usual.
func rounds(n int) int {
	if testing.Short() {
		return n / 5
	}
	return n
}

// in runs f in a unit that holds the latches of keys, and commits it.
func in(t *testing.T, s *store.Store, f func(u *store.Unit), keys ...string) {
	t.Helper()
	u := s.NewUnit()
	var places []store.Place
	for _, k := range keys {
		places = append(places, u.Place([]byte(k)))
	}
	u.Begin(1000, places)
	f(u)
	var done store.Signal
	wait, err := u.Commit(&done)
	if err == nil && wait {
		err = done.Wait()
	}
	if err != nil {
		t.Fatal(err)
	}
}

// contents returns all of a table, as it is seen without latches.
func contents(t *testing.T, s *store.Store, key string, typ store.Type) map[string]string {
	t.Helper()
	got := make(map[string]string)
	in(t, s, func(u *store.Unit) {
		var tb Table
		if err := tb.OpenWhole(u, []byte(key), typ); err != nil {
			t.Fatal(err)
		}
		err := tb.All(func(field, value []byte) bool {
			if _, ok := got[string(field)]; ok {
				t.Fatalf("%q comes twice", field)
			}
			got[string(field)] = string(value)
			return true
		})
		if err != nil || tb.Len() != int64(len(got)) {
			t.Fatalf("%v, %d fields, %d are said to be", err, len(got), tb.Len())
		}
	})
	return got
}

// Whatever is done to tables, in units of any size and with any limit of what is kept
// whole, they hold what a map would, within the unit and behind it, and after the store was
// opened again.
func TestTableIsAMap(t *testing.T) {
	oneGoroutine(t)
	for _, typ := range []store.Type{store.Hash, store.Set} {
		for _, limit := range []int{0, 40, DefaultPacked} {
			t.Run(fmt.Sprint(typ, limit), func(t *testing.T) {
				seed := rand.Uint64()
				t.Logf("seed %d", seed)
				rnd := rand.New(rand.NewPCG(seed, 0))
				fs := vfs.NewMem()
				s := open(t, fs)
				keys := []string{"a", "b"}
				model := map[string]map[string]string{"a": {}, "b": {}}
				for range rounds(300) {
					in(t, s, func(u *store.Unit) {
						for range 1 + rnd.IntN(30) {
							change(t, u, rnd, typ, limit, model, keys[rnd.IntN(2)])
						}
					}, keys...)
					key := keys[rnd.IntN(2)]
					if got := contents(t, s, key, typ); !maps.Equal(got, model[key]) {
						t.Fatalf("%s is %v, want %v", key, got, model[key])
					}
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = open(t, fs)
				size := int64(0)
				for _, key := range keys {
					if got := contents(t, s, key, typ); !maps.Equal(got, model[key]) {
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
}

// change does one thing to a table and to its model, and looks at what comes of it.
func change(t *testing.T, u *store.Unit, rnd *rand.Rand, typ store.Type, limit int, model map[string]map[string]string, key string) {
	t.Helper()
	m := model[key]
	tb := Table{base{MaxPacked: limit}}
	if err := tb.Open(u, []byte(key), typ); err != nil {
		t.Fatal(err)
	}
	value := func() (v []byte) {
		if typ == store.Hash {
			v = fmt.Append(v, rnd.IntN(1000))
		}
		return v
	}
	field := fmt.Sprint("f", rnd.IntN(60))
	switch what := rnd.IntN(40); {
	case what < 20:
		v := value()
		_, had := m[field]
		added, err := tb.Set([]byte(field), v)
		if err != nil || added == had {
			t.Fatalf("set %s: %v, %v", field, added, err)
		}
		m[field] = string(v)
	case what < 32:
		_, had := m[field]
		gone, err := tb.Delete([]byte(field))
		if err != nil || gone != had {
			t.Fatalf("delete %s: %v, %v", field, gone, err)
		}
		delete(m, field)
	case what == 32:
		tb.Clear()
		clear(m)
	case what == 33:
		clear(m)
		for range rnd.IntN(40) {
			m[fmt.Sprint("f", rnd.IntN(60))] = string(value())
		}
		err := tb.Replace(func(set func(field, value []byte) error) error {
			for f, v := range m {
				if err := set([]byte(f), []byte(v)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	case what == 34:
		other := "a"
		if key == other {
			other = "b"
		}
		from, err := u.Get([]byte(other))
		if err != nil {
			t.Fatal(err)
		}
		if from.Exists() {
			to := *tb.Value()
			if err := u.Copy([]byte(other), from, []byte(key), to); err != nil {
				t.Fatal(err)
			}
			model[key] = maps.Clone(model[other])
		}
	case what == 35:
		tb.MarkLarge()
	case what < 38:
		var d Draws
		field, ok, err := tb.Pop(&d)
		if _, had := m[string(field)]; err != nil || ok != (len(m) > 0) || ok && !had {
			t.Fatalf("pop: %q, %v, %v", field, ok, err)
		}
		delete(m, string(field))
	}
	m = model[key]
	tb = Table{base{MaxPacked: limit}}
	if err := tb.Open(u, []byte(key), typ); err != nil || tb.Len() != int64(len(m)) {
		t.Fatalf("%v, %d fields, want %d", err, tb.Len(), len(m))
	}
	want, has := m[field]
	if v, ok, err := tb.Get([]byte(field)); err != nil || ok != has || string(v) != want {
		t.Fatalf("%s is %q, %v, %v, want %q", field, v, ok, err, want)
	}
	got := make(map[string]string)
	if err := tb.All(func(f, v []byte) bool { got[string(f)] = string(v); return true }); err != nil || !maps.Equal(got, m) {
		t.Fatalf("all is %v, %v, want %v", got, err, m)
	}
}

// fill makes a set of n fields.
func fill(t *testing.T, s *store.Store, key string, n, limit int) {
	t.Helper()
	in(t, s, func(u *store.Unit) {
		tb := Table{base{MaxPacked: limit}}
		if err := tb.Open(u, []byte(key), store.Set); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			if _, err := tb.Set(fmt.Append(nil, "f", i), nil); err != nil {
				t.Fatal(err)
			}
		}
	}, key)
}

// A scan sees all that is there throughout, whatever comes and goes meanwhile, and no call
// is much longer than was asked for.
func TestScanSeesLastingElements(t *testing.T) {
	s := open(t, vfs.NewMem())
	fill(t, s, "k", 1000, 0)
	seen := make(map[string]bool)
	cursor, n := uint64(0), 0
	for calls := 0; calls == 0 || cursor != 0; calls++ {
		if calls > 250 {
			t.Fatal("it does not end")
		}
		in(t, s, func(u *store.Unit) {
			var tb Table
			err := tb.OpenWhole(u, []byte("k"), store.Set)
			got := 0
			if err == nil {
				cursor, err = tb.Scan(cursor, 7, func(field, _ []byte) { seen[string(field)] = true; got++ })
			}
			if err != nil || got > 9 {
				t.Fatalf("%d fields, %v", got, err)
			}
			n += got
		})
		in(t, s, func(u *store.Unit) {
			tb := Table{}
			if err := tb.Open(u, []byte("k"), store.Set); err != nil {
				t.Fatal(err)
			}
			if _, err := tb.Delete(fmt.Append(nil, "f", 500+calls)); err != nil {
				t.Fatal(err)
			}
			if _, err := tb.Set(fmt.Append(nil, "new", calls), nil); err != nil {
				t.Fatal(err)
			}
		}, "k")
	}
	for i := range 500 {
		if !seen[fmt.Sprint("f", i)] {
			t.Errorf("f%d was not seen", i)
		}
	}
	if n < 600 {
		t.Errorf("%d fields were seen", n)
	}
}

// Each field is about as likely as any other.
func TestRandomIsFair(t *testing.T) {
	oneGoroutine(t)
	for _, limit := range []int{0, 1 << 20} {
		s := open(t, vfs.NewMem())
		const fields, draws = 200, 40_000
		fill(t, s, "k", fields, limit)
		drawn := make(map[string]int)
		in(t, s, func(u *store.Unit) {
			var tb Table
			if err := tb.OpenWhole(u, []byte("k"), store.Set); err != nil {
				t.Fatal(err)
			}
			for range draws {
				field, _, ok, err := tb.Random()
				if err != nil || !ok {
					t.Fatal(ok, err)
				}
				drawn[string(field)]++
			}
			for n := range int64(fields + 10) {
				var got []string
				if err := tb.Sample(n, func(field, _ []byte) { got = append(got, string(field)) }); err != nil {
					t.Fatal(err)
				}
				slices.Sort(got)
				if want := min(n, fields); int64(len(slices.Compact(got))) != want {
					t.Fatalf("%d of %d fields that were asked for", len(got), want)
				}
			}
		})
		for f, n := range drawn {
			// What is the least and the most likely of these is so 85 and 386 times.
			if mean := draws / fields; n < mean/5 || n > mean*3 {
				t.Errorf("limit %d: %s was drawn %d times, the mean is %d", limit, f, n, mean)
			}
		}
		if len(drawn) != fields {
			t.Errorf("limit %d: %d of %d fields were drawn", limit, len(drawn), fields)
		}
	}
}

// Whoever reads without a latch sees the hash as it was at some moment: while its fields are
// set over and over, all to the same, and it is replaced by others that have them, they are
// always there, and the same.
func TestHashIsReadAsOfOneMoment(t *testing.T) {
	randomtest.Draw(t, 3)
	s := open(t, vfs.NewMem())
	stop := make(chan struct{})
	written := make(chan int)
	set := func(n int) {
		in(t, s, func(u *store.Unit) {
			tb := Table{base{MaxPacked: 60 * (n & 1)}}
			if err := tb.Open(u, []byte("k"), store.Hash); err != nil {
				t.Error(err)
				return
			}
			if n&2 == 0 {
				tb.Clear()
			}
			if _, err := tb.Delete([]byte("f9")); err != nil {
				t.Error(err)
			}
			for i := range 9 + n&1 {
				if _, err := tb.Set(fmt.Append(nil, "f", i), fmt.Append(nil, n)); err != nil {
					t.Error(err)
				}
			}
		}, "k")
	}
	set(0)
	go func() {
		n := 1
		for ; ; n++ {
			select {
			case <-stop:
				written <- n
				return
			default:
			}
			set(n)
		}
	}()
	last := 0
	for range rounds(20_000) {
		in(t, s, func(u *store.Unit) {
			var tb Table
			err := tb.Open(u, []byte("k"), store.Hash)
			var v []byte
			ok := false
			if err == nil {
				v, ok, err = tb.Get([]byte("f3"))
			}
			n := 0
			_, _ = fmt.Sscan(string(v), &n)
			if err != nil || !ok || n < last {
				t.Fatalf("%q after %d: %v, %v", v, last, ok, err)
			}
			if err := tb.OpenWhole(u, []byte("k"), store.Hash); err != nil {
				t.Fatal(err)
			}
			var all []int
			if err := tb.All(func(_, value []byte) bool {
				got := 0
				_, _ = fmt.Sscan(string(value), &got)
				all = append(all, got)
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if len(all) != 9+all[0]&1 || tb.Len() != int64(len(all)) || slices.Min(all) != slices.Max(all) || all[0] < n {
				t.Fatalf("%v after %d, %d are said to be", all, n, tb.Len())
			}
			last = all[0]
		})
	}
	close(stop)
	if n := <-written; n < 10 || last == 0 {
		t.Errorf("%d hashes were written, %d was seen last", n, last)
	}
}

// oneGoroutine skips a test under -short, which the race phase uses: the test runs in one
// goroutine, so that the race detector has nothing to see in it.
func oneGoroutine(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("one goroutine: nothing to see for the race detector")
	}
}
