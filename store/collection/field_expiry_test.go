package collection

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/rdb"
)

// farNow is when virtual time begins: so late that the store, which goes by the clock, finds nothing
// due by itself.
const farNow = 1 << 43

// A timedWorld is hashes whose fields expire, in virtual time, beside what they should be.
type timedWorld struct {
	t      *testing.T
	rnd    *rand.Rand
	s      *store.Store
	limit  int // MaxPacked
	now    int64
	hashes map[string]map[string]modelField
}

type modelField struct {
	value  string
	expiry int64
}

func (f modelField) isDue(now int64) bool { return f.expiry != 0 && f.expiry <= now }

func openTimed(t *testing.T, fs vfs.FS) *store.Store {
	t.Helper()
	s, err := store.Open(store.Config{
		Dir: "data", Strategy: "buckets", Hash: "native", Token: token, FS: fs, Cache: 1 << 16, ExpireFields: ExpireFields,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// in runs f in a unit of the present moment that holds the latches of keys, and commits it.
func (w *timedWorld) in(f func(u *store.Unit), keys ...string) {
	w.t.Helper()
	u := w.s.NewUnit()
	var places []store.Place
	for _, k := range keys {
		places = append(places, u.Place([]byte(k)))
	}
	u.Begin(w.now, places)
	f(u)
	var done store.Signal
	wait, err := u.Commit(&done)
	if err == nil && wait {
		err = done.Wait()
	}
	w.must(err)
}

func (w *timedWorld) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *timedWorld) key() string { return string('a' + byte(w.rnd.IntN(3))) }

func (w *timedWorld) field() string { return fmt.Sprint("f", w.rnd.IntN(24)) }

func (w *timedWorld) value() string {
	return string(bytes.Repeat([]byte{'0' + byte(w.rnd.IntN(3))}, w.rnd.IntN(6)))
}

// expiry is a time from now on, often one that other fields have, or none.
func (w *timedWorld) expiry() int64 {
	if w.rnd.IntN(4) == 0 {
		return 0
	}
	return w.now/10*10 + 10*(1+w.rnd.Int64N(5))
}

// live is a hash of the model without what is due.
func (w *timedWorld) live(key string) map[string]modelField {
	all := maps.Clone(w.hashes[key])
	maps.DeleteFunc(all, func(_ string, f modelField) bool { return f.isDue(w.now) })
	return all
}

func (w *timedWorld) put(key, field string, f modelField) {
	if w.hashes[key] == nil {
		w.hashes[key] = make(map[string]modelField)
	}
	w.hashes[key][field] = f
}

// change does one thing to a hash whose latch the unit holds.
func (w *timedWorld) change(u *store.Unit, key string) {
	tb := Table{}
	tb.MaxPacked = w.limit
	w.must(tb.Open(u, []byte(key), store.Hash))
	field, value, expiry := w.field(), w.value(), w.expiry()
	was, found := w.live(key)[field]
	isNew := true
	var added bool
	var err error
	switch n := w.rnd.IntN(12); {
	case n < 2:
		added, err = tb.Set([]byte(field), []byte(value))
		w.put(key, field, modelField{value, 0})
	case n < 4:
		added, err = tb.SetKeeping([]byte(field), []byte(value))
		w.put(key, field, modelField{value, was.expiry})
	case n < 8:
		added, err = tb.SetExpiring([]byte(field), []byte(value), expiry)
		w.put(key, field, modelField{value, expiry})
	case n < 10:
		got, at, ok, getErr := tb.GetExpiry([]byte(field))
		w.must(getErr)
		if ok != found || string(got) != was.value || at != was.expiry {
			w.t.Fatalf("%s of %s is %q, %d, %v, want %+v", field, key, got, at, ok, was)
		}
		if isNew = false; ok {
			_, err = tb.SetExpiring([]byte(field), got, expiry)
			w.put(key, field, modelField{was.value, expiry})
		}
	default:
		isNew = false
		gone, deleteErr := tb.Delete([]byte(field))
		if err = deleteErr; gone != found {
			w.t.Fatalf("%s of %s was deleted: %v, want %v", field, key, gone, found)
		}
		if found {
			delete(w.hashes[key], field)
		}
	}
	w.must(err)
	if isNew && added == found {
		w.t.Fatalf("%s of %s is new: %v, but was found: %v", field, key, added, found)
	}
	if w.rnd.IntN(20) == 0 {
		tb.MarkLarge()
	}
}

// step does one thing that is a unit by itself.
func (w *timedWorld) step() {
	key, other := w.key(), w.key()
	switch n := w.rnd.IntN(12); {
	case n < 6:
		w.in(func(u *store.Unit) {
			for range 1 + w.rnd.IntN(20) {
				w.change(u, key)
			}
		}, key)
	case n < 8:
		w.now += w.rnd.Int64N(30)
	case n < 10: // in the background
		w.in(func(u *store.Unit) {
			v, err := u.Get([]byte(key))
			w.must(err)
			if v.Exists() && v.FieldExpiry != 0 && v.FieldExpiry <= w.now {
				_, err = ExpireFields(u, []byte(key), &v, 1+w.rnd.IntN(4))
				w.must(err)
			}
		}, key)
	case n == 10 && key != other:
		w.in(func(u *store.Unit) {
			from, err := u.Get([]byte(key))
			w.must(err)
			to, err := u.Get([]byte(other))
			w.must(err)
			if from.Exists() {
				w.must(u.Rename([]byte(key), from, []byte(other), to))
			}
			if from.Exists() {
				w.hashes[other] = w.hashes[key]
				delete(w.hashes, key)
			}
		}, key, other)
	case n == 11 && key != other:
		w.restore(key, other)
	}
}

// restore makes one hash what another one's dump says.
func (w *timedWorld) restore(key, other string) {
	var payload []byte
	w.in(func(u *store.Unit) {
		v, err := u.GetWhole([]byte(key))
		w.must(err)
		if !v.Exists() || len(w.live(key)) == 0 {
			return
		}
		if w.rnd.IntN(2) == 0 {
			payload, err = AppendDumpAs(nil, u, []byte(key), v, rdb.ValkeyVersion)
		} else {
			payload, err = AppendDump(nil, u, []byte(key), v)
		}
		w.must(err)
	})
	if payload == nil {
		return
	}
	value, err := rdb.Decode(payload, 1<<20)
	w.must(err)
	if timed := slices.ContainsFunc(slices.Collect(maps.Values(w.live(key))), func(f modelField) bool { return f.expiry != 0 }); value.Timed() != timed {
		w.t.Fatalf("the dump of %s has expiries: %v, want %v", key, value.Timed(), timed)
	}
	w.in(func(u *store.Unit) {
		old, err := u.Get([]byte(other))
		w.must(err)
		var tb Table
		tb.MaxPacked = w.limit
		tb.Over(u, []byte(other), store.Hash, old)
		w.must(tb.Restore(&value, func(_, _ []byte) error { return nil }))
	}, other)
	w.hashes[other] = w.live(key)
}

// check compares a hash with the model, with its latch held or without.
func (w *timedWorld) check(key string, keys ...string) {
	w.t.Helper()
	want := w.live(key)
	w.in(func(u *store.Unit) {
		var tb Table
		w.must(tb.OpenWhole(u, []byte(key), store.Hash))
		got := make(map[string]modelField)
		w.must(tb.AllExpiring(func(field, value []byte, expiry int64) bool {
			got[string(field)] = modelField{string(value), expiry}
			return true
		}))
		if !maps.Equal(got, want) {
			w.t.Fatalf("%s is %v, want %v", key, got, want)
		}
		n, err := tb.LenLive()
		w.must(err)
		if n != int64(len(want)) || tb.Len() < n {
			w.t.Fatalf("%s has %d live fields, %d in all, want %d", key, n, tb.Len(), len(want))
		}
		seen := make(map[string]string)
		for cursor := uint64(0); ; {
			cursor, err = tb.Scan(cursor, 1+w.rnd.Int64N(8), func(field, value []byte) { seen[string(field)] = string(value) })
			w.must(err)
			if cursor == 0 {
				break
			}
		}
		if len(seen) != len(want) {
			w.t.Fatalf("a scan of %s finds %v, want %v", key, seen, want)
		}
		field, value, ok, err := tb.Random()
		w.must(err)
		if ok != (len(want) > 0) || ok && want[string(field)].value != string(value) {
			w.t.Fatalf("any field of %s: %q, %q, %v", key, field, value, ok)
		}
		drawn := make(map[string]bool)
		w.must(tb.Sample(3, func(field, _ []byte) { drawn[string(field)] = want[string(field)].expiry >= 0 }))
		if len(drawn) != min(3, len(want)) {
			w.t.Fatalf("three fields of %s: %v", key, drawn)
		}
		w.checkIndex(&tb)
	}, keys...)
	w.in(func(u *store.Unit) {
		var tb Table
		w.must(tb.Open(u, []byte(key), store.Hash))
		field := w.field()
		value, ok, err := tb.Get([]byte(field))
		w.must(err)
		if f, found := want[field]; ok != found || string(value) != f.value {
			w.t.Fatalf("%s of %s is %q, %v, want %+v", field, key, value, ok, f)
		}
	}, keys...)
}

// checkIndex compares the index of a large hash with its fields.
func (w *timedWorld) checkIndex(tb *Table) {
	if tb.v.Whole() {
		return
	}
	head, err := headOf(&tb.v)
	w.must(err)
	var fields, index []string
	_, err = tb.timedElements(0, func(order uint32, field, value []byte, expiry int64) bool {
		if expiry < head.first || expiry == head.first && order < head.order {
			w.t.Fatalf("%q expires at %d, before %+v", field, expiry, head)
		}
		fields = append(fields, fmt.Sprint(string(field), expiry, len(value)))
		return true
	})
	w.must(err)
	it := tb.unit.Elements(tb.key, &tb.v, []byte{kindByTime}, []byte{kindByTime + 1}, false)
	for it.Next() {
		expiry, _, field, _ := splitTimeKey(it.Sub())
		index = append(index, fmt.Sprint(string(field), expiry, it.Value()[0]))
	}
	w.must(it.Close())
	slices.Sort(fields)
	slices.Sort(index)
	if !slices.Equal(fields, index) || int64(len(fields)) != head.fields {
		w.t.Fatalf("fields %v, their index %v, %d are counted", fields, index, head.fields)
	}
}

// Whatever is done to hashes whose fields expire, small or large, they hold what a map would that
// forgets fields in time; so does a store that follows them, and both agree on every entry.
func TestFieldsExpireAsInAMap(t *testing.T) {
	oneGoroutine(t)
	for _, limit := range []int{0, 100, DefaultPacked} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			fs := vfs.NewMem()
			w := &timedWorld{
				t: t, rnd: rand.New(rand.NewPCG(seed, 0)), s: openTimed(t, fs), limit: limit, now: farNow,
				hashes: make(map[string]map[string]modelField),
			}
			backup := openTimed(t, vfs.NewMem())
			backup.SetActive()
			rc := backup.NewReceiver(ring.Whole)
			defer rc.Close()
			var mu sync.Mutex
			var batches [][]byte
			taps := w.s.ListenEach([]ring.Range{ring.Whole}, func(_ int, c store.Change) {
				mu.Lock()
				defer mu.Unlock()
				batches = append(batches, bytes.Clone(c.Batch))
			})
			defer store.CloseTaps(taps)
			for range rounds(400) {
				w.step()
				key := w.key()
				w.check(key)
				w.check(key, key)
			}
			mu.Lock()
			defer mu.Unlock()
			for _, b := range batches {
				_, err := rc.Apply(b, nil)
				w.must(err)
			}
			d, err := w.s.Digest(ring.Whole, nil, 1<<20)
			w.must(err)
			if spans, err := backup.DifferingSpans(ring.Whole, d); err != nil || len(spans) > 0 {
				t.Fatalf("the backup differs in %v, %v", spans, err)
			}
			copied := openTimed(t, vfs.NewMem())
			copied.SetActive()
			w.copyTo(copied)
			if spans, err := copied.DifferingSpans(ring.Whole, d); err != nil || len(spans) > 0 {
				t.Fatalf("a copy differs in %v, %v", spans, err)
			}
			for _, w.s = range []*store.Store{backup, copied} {
				for key := range w.hashes {
					w.check(key)
				}
			}
		})
	}
}

// copyTo makes another store a copy, as a new backup becomes one.
func (w *timedWorld) copyTo(other *store.Store) {
	rc := other.NewReceiver(ring.Whole)
	defer rc.Close()
	c, err := w.s.NewCopy(ring.Whole, nil)
	w.must(err)
	for !c.Done() {
		w.must(c.Chunk(512, nil, func(batch []byte, _ store.Position) {
			if batch != nil {
				_, err := rc.Apply(batch, nil)
				w.must(err)
			}
		}))
	}
}

// A directory gets the format version that programs before refuse with its first field that
// expires, not before, and opens again.
func TestFirstExpiryRaisesTheFormatVersion(t *testing.T) {
	fs := vfs.NewMem()
	w := &timedWorld{t: t, s: openTimed(t, fs), now: farNow}
	set := func(field string, expiry int64) {
		w.in(func(u *store.Unit) {
			tb := Table{}
			w.must(tb.Open(u, []byte("h"), store.Hash))
			_, err := tb.SetExpiring([]byte(field), []byte("v"), expiry)
			w.must(err)
		}, "h")
	}
	set("lasting", 0)
	if got := w.s.Identity().Format; got != 4 {
		t.Fatalf("without a field that expires: version %d", got)
	}
	set("expiring", farNow+1)
	for range 2 {
		if got := w.s.Identity().Format; got != 5 {
			t.Fatalf("with a field that expires: version %d", got)
		}
		w.in(func(u *store.Unit) {
			var tb Table
			w.must(tb.OpenWhole(u, []byte("h"), store.Hash))
			if _, expiry, ok, err := tb.GetExpiry([]byte("expiring")); !ok || err != nil || expiry != farNow+1 {
				t.Fatal(expiry, ok, err)
			}
		})
		w.must(w.s.Close())
		w.s = openTimed(t, fs)
	}
}

// Fields that are due are removed some at a time, and what is not due is not looked at: a step
// passes the entries that it removes, and none that steps before it have removed.
func TestStepsOfExpiryPassOnlyWhatIsDue(t *testing.T) {
	const due, all, most = 2000, 6000, 100
	w := &timedWorld{t: t, s: openTimed(t, vfs.NewMem()), now: farNow}
	w.in(func(u *store.Unit) {
		tb := Table{}
		w.must(tb.Open(u, []byte("h"), store.Hash))
		for i := range all {
			expiry := int64(farNow + 10)
			if i >= due {
				expiry += 1000
			}
			_, err := tb.SetExpiring(fmt.Append(nil, "field", i), []byte("v"), expiry)
			w.must(err)
		}
	}, "h")
	w.now += 10
	for left := all; left > all-due; {
		w.in(func(u *store.Unit) {
			v, err := u.Get([]byte("h"))
			w.must(err)
			var tb Table
			w.must(tb.open(u, []byte("h"), store.Hash, v, false, nil))
			head, err := headOf(&tb.v)
			w.must(err)
			it := u.Elements([]byte("h"), &tb.v, appendTimePlace(nil, head.first, head.order), []byte{kindByTime + 1}, false)
			if it.Next(); it.Passed() > 10 {
				t.Fatalf("%d entries before the first field", it.Passed())
			}
			w.must(it.Close())
			n, err := ExpireFields(u, []byte("h"), &v, most)
			w.must(err)
			if left -= n; n != most || v.Count != int64(left) || v.FieldExpiry <= w.now != (left > all-due) {
				t.Fatalf("%d removed, %d left, the next one at %d", n, v.Count, v.FieldExpiry)
			}
		}, "h")
	}
}

// A payload that names a field twice, once with an expiry and once without, is refused.
func TestFieldTwiceInAPayloadIsRefused(t *testing.T) {
	for _, limit := range []int{0, DefaultPacked} {
		w := &timedWorld{t: t, s: openTimed(t, vfs.NewMem()), now: farNow}
		payload := rdb.BeginTimedHash(nil, 2, farNow+1)
		payload = rdb.AppendElement(rdb.AppendElement(rdb.AppendExpiry(payload, farNow+1, 0), []byte("f")), []byte("1"))
		payload = rdb.AppendElement(rdb.AppendElement(rdb.AppendExpiry(payload, farNow+1, farNow+9), []byte("f")), []byte("2"))
		value, err := rdb.Decode(rdb.SealAs(payload, 0, rdb.TimedVersion), 1<<10)
		w.must(err)
		w.in(func(u *store.Unit) {
			tb := Table{}
			tb.MaxPacked = limit
			tb.Over(u, []byte("h"), store.Hash, store.Value{})
			if err := tb.Restore(&value, func(_, _ []byte) error { return nil }); !errors.Is(err, ErrDuplicate) {
				t.Errorf("kept whole up to %d bytes: %v", limit, err)
			}
		}, "h")
	}
}
