package gather

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/stall"
)

// openMem returns a DB in memory. Nothing runs in the background. Once fatal is closed, Pebble counts as stopped.
func openMem(t *testing.T, fatal <-chan struct{}) *DB {
	t.Helper()
	engine, err := pebble.Open("", &pebble.Options{FS: vfs.NewMem(), DisableWAL: true, Logger: quiet{}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := engine.Close(); err != nil {
			t.Error(err)
		}
	})
	gate := stall.NewGate(stall.Config{
		MemTable: 64 << 20, Metrics: engine.Metrics, Refusal: func(bool) error { return nil },
		Stalls: new(atomic.Int64), Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(gate.Close)
	return New(engine, 64<<20, gate, fatal)
}

// add adds a batch with a value for each of some keys; an empty one removes the key.
func add(t *testing.T, db *DB, pairs ...string) {
	t.Helper()
	if err := addPairs(db, pairs...); err != nil {
		t.Fatal(err)
	}
}

func addPairs(db *DB, pairs ...string) error {
	b := db.NewBatch()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			_ = b.Delete([]byte(pairs[i]), nil)
		} else {
			_ = b.Set([]byte(pairs[i]), []byte(pairs[i+1]), nil)
		}
	}
	return errors.Join(db.Add(b), b.Close())
}

func get(t *testing.T, db *DB, key string) string {
	t.Helper()
	value, closer, err := db.Get([]byte(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = closer.Close() }()
	return string(value)
}

// within returns what an iterator with bounds, or without, shows.
func within(t *testing.T, iter *pebble.Iterator, err error) map[string]string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for ok := iter.First(); ok; ok = iter.Next() {
		found[string(iter.Key())] = string(iter.Value())
	}
	if err := iter.Close(); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestReadersSeeWhatIsGathered(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	db := openMem(t, nil)
	model := map[string]string{}
	key := func() string { return fmt.Sprintf("place-%d-%0*d", rnd.IntN(3), 1+rnd.IntN(2), rnd.IntN(40)) }
	for step := range 4000 {
		switch rnd.IntN(10) {
		default:
			var pairs []string
			for range 1 + rnd.IntN(4) {
				k, v := key(), fmt.Sprint(step)
				if rnd.IntN(3) == 0 {
					v = ""
				}
				pairs = append(pairs, k, v)
				if model[k] = v; v == "" {
					delete(model, k)
				}
			}
			add(t, db, pairs...)
		case 0: // with a deletion of a range, which is not gathered
			b, lower, upper, k := db.NewBatch(), key(), key(), key()
			if lower > upper {
				lower, upper = upper, lower
			}
			_ = b.DeleteRange([]byte(lower), []byte(upper), nil)
			_ = b.Set([]byte(k), []byte("beside"), nil)
			if err := errors.Join(db.Add(b), b.Close()); err != nil {
				t.Fatal(err)
			}
			maps.DeleteFunc(model, func(k, _ string) bool { return k >= lower && k < upper })
			model[k] = "beside"
		case 1: // directly
			b, k := db.NewBatch(), key()
			_ = b.Set([]byte(k), []byte("direct"), nil)
			if err := errors.Join(db.Apply(b), b.Close()); err != nil {
				t.Fatal(err)
			}
			model[k] = "direct"
		case 2:
			lower, upper := key(), key()
			iter, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte(lower), UpperBound: []byte(upper)})
			got := within(t, iter, err)
			want := maps.Clone(model)
			maps.DeleteFunc(want, func(k, _ string) bool { return k < lower || k >= upper })
			if !maps.Equal(got, want) {
				t.Fatalf("from %s to %s: %v, want %v", lower, upper, got, want)
			}
		case 3:
			k := key()
			if got := get(t, db, k); got != model[k] {
				t.Fatalf("%s is %q, want %q", k, got, model[k])
			}
		}
		if step%100 != 0 {
			continue
		}
		if step%200 == 0 {
			iter, err := db.NewIter(nil)
			if got := within(t, iter, err); !maps.Equal(got, model) {
				t.Fatalf("there is %v, want %v", got, model)
			}
			continue
		}
		snapshot, err := db.NewSnapshot()
		if err != nil {
			t.Fatal(err)
		}
		iter, err := snapshot.NewIter(nil)
		if got := within(t, iter, err); !maps.Equal(got, model) {
			t.Fatalf("a snapshot has %v, want %v", got, model)
		}
		if err := snapshot.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A caller that removes the log relies on it.
func TestFlushWritesWhatIsGathered(t *testing.T) {
	db := openMem(t, nil)
	add(t, db, "a", "1", "b", "2")
	if _, _, err := db.DB.Get([]byte("a")); !errors.Is(err, pebble.ErrNotFound) {
		t.Fatalf("%v: the batch was not gathered", err)
	}
	flushed, err := db.AsyncFlush()
	if err != nil {
		t.Fatal(err)
	}
	<-flushed
	if n := db.Metrics().Flush.Count; n != 1 {
		t.Errorf("%d flushes, want 1", n)
	}
	iter, err := db.DB.NewIter(nil)
	if got := within(t, iter, err); len(got) != 2 {
		t.Errorf("tables have %v", got)
	}
}

// Once Pebble has stopped, Get still answers, and iterators over what is gathered get an error.
func TestReadsOfStoppedEngine(t *testing.T) {
	fatal := make(chan struct{})
	db := openMem(t, fatal)
	add(t, db, "place-one", "1")
	close(fatal)
	if got := get(t, db, "place-one"); got != "1" {
		t.Errorf("value is %q", got)
	}
	bounds := func(from, to string) *pebble.IterOptions {
		return &pebble.IterOptions{LowerBound: []byte(from), UpperBound: []byte(to)}
	}
	if _, err := db.NewIter(bounds("place-one", "place-one~")); !errors.Is(err, refusal.ErrReadOnly) {
		t.Errorf("an iterator over gathered changes: %v", err)
	}
	for _, apart := range [][2]string{{"place-one-a", "place-one-b"}, {"other-place-a", "other-place-b"}} {
		iter, err := db.NewIter(bounds(apart[0], apart[1]))
		if got := within(t, iter, err); len(got) > 0 {
			t.Errorf("%v", got)
		}
	}
	// What the log has is not seen in part: it is gathered, however much there is.
	for n := range mostChanges + 10 {
		if err := addPairs(db, fmt.Sprintf("place-%05d", n), "x"); err != nil {
			t.Fatal(err)
		}
	}
	if got := get(t, db, "place-00009"); got != "x" {
		t.Errorf("value is %q", got)
	}
	if err := addPairs(db, "large", strings.Repeat("x", mostBatch)); !errors.Is(err, refusal.ErrReadOnly) {
		t.Errorf("a large batch: %v", err)
	}
}

// A reader that sees a commit sees those before, too: so Pebble never has a batch without all before it.
func TestPebbleGetsBatchesInOrder(t *testing.T) {
	db := openMem(t, nil)
	batches := []struct{ key, value string }{{"place-a", "1"}, {"place-b", strings.Repeat("x", mostBatch)}, {"other-c", "3"}}
	for _, next := range append(batches, batches...) {
		add(t, db, next.key, next.value)
		have, last := 0, ""
		for _, b := range batches {
			if _, closer, err := db.DB.Get([]byte(b.key)); err == nil {
				_ = closer.Close()
				have, last = have+1, b.key
			}
		}
		if have > 0 && batches[have-1].key != last {
			t.Fatalf("after %s Pebble has %d keys, among them %s", next.key, have, last)
		}
	}
	b := db.NewBatch()
	_ = b.Set([]byte("dirty"), []byte("line"), nil)
	add(t, db, "place-a", "2")
	if err := errors.Join(db.AddAmongOthers(b), b.Close()); err != nil {
		t.Fatal(err)
	}
	if n := db.waiting.Load(); n != 3 { // the batch, and what was added before
		t.Errorf("%d changes wait, want 3", n)
	}
}

func TestLargeBatchesAreNotGathered(t *testing.T) {
	db := openMem(t, nil)
	add(t, db, "a", "old")
	add(t, db, "a", strings.Repeat("x", mostBatch))
	if _, closer, err := db.DB.Get([]byte("a")); err != nil {
		t.Error(err)
	} else {
		_ = closer.Close()
	}
	if got := get(t, db, "a"); len(got) != mostBatch {
		t.Errorf("value has %d bytes", len(got))
	}
}

// A run that is due is written in the background, and each goroutine sees its own changes all the time.
func TestGoroutinesSeeTheirChanges(t *testing.T) {
	db := openMem(t, nil)
	stop := make(chan struct{})
	var background, all sync.WaitGroup
	background.Go(func() { db.Run(stop) })
	const goroutines, rounds = 4, 1500
	for g := range goroutines {
		all.Go(func() {
			prefix := fmt.Sprintf("place-%d--", g)
			for i := range rounds {
				var pairs []string
				for j := range 8 {
					pairs = append(pairs, fmt.Sprintf("%s%d-%04d", prefix, j, i%500), fmt.Sprint(i))
				}
				if err := addPairs(db, pairs...); err != nil {
					t.Error(err)
					return
				}
				if got := get(t, db, pairs[0]); got != pairs[1] {
					t.Errorf("%s is %q, want %q", pairs[0], got, pairs[1])
				}
				if i%50 != 0 {
					continue
				}
				iter, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte(prefix), UpperBound: []byte(prefix + "~")})
				if got := within(t, iter, err); got[pairs[14]] != pairs[15] || len(got) != 8*min(i+1, 500) {
					t.Errorf("%d keys after %d rounds", len(got), i+1)
				}
			}
		})
	}
	all.Wait()
	close(stop)
	background.Wait()
	iter, err := db.NewIter(nil)
	if got := within(t, iter, err); len(got) != goroutines*8*500 {
		t.Errorf("%d keys", len(got))
	}
}

func TestRunIsInOrderOfKeysWithLastChanges(t *testing.T) {
	db := openMem(t, nil)
	add(t, db, "ab", "1", "a", "2", "abcdefghij", "3", "a\x00", "4")
	add(t, db, "ab", "5", "a", "", "abcdefghijk", "6")
	b := db.DB.NewBatch()
	if err := db.runs[db.now].fill(b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := b.Reader(); ; {
		kind, key, value, ok, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			break
		}
		got = append(got, fmt.Sprintf("%v %s %s", kind, key, value))
	}
	want := []string{"DEL a ", "SET a\x00 4", "SET ab 5", "SET abcdefghij 3", "SET abcdefghijk 6"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Pebble makes a memtable of its own of a batch that is larger than half of one.
func TestRunFillsAPartOfAMemtable(t *testing.T) {
	for _, memTable := range []int64{1 << 20, 4 << 20, 64 << 20} {
		for _, value := range []int{0, 100, 1000, mostBatch / 2} {
			db := openMem(t, nil)
			db = New(db.DB, memTable, db.gate, nil)
			most := int64(0)
			for i := 0; ; i++ {
				add(t, db, fmt.Sprintf("place-%06d", i), "x"+strings.Repeat("y", value))
				r := &db.runs[db.now]
				size := int64(len(r.bytes) + changeCost*len(r.changes))
				if size < most {
					break // it was written
				}
				most = size
			}
			if most > memTable/4+mostBatch {
				t.Errorf("values of %d bytes: a run has %d of a memtable of %d", value, most, memTable)
			}
		}
	}
}

// quiet logs nothing.
type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
