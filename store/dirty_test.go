package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// scanned returns the keys that a scan comes by.
func (s *Store) scanned(t *testing.T, count int) map[string]struct{} {
	t.Helper()
	keys := map[string]struct{}{}
	for from := Cursor(0); ; {
		next, err := s.Scan(from, count, func(e Entry) bool {
			keys[string(e.Key)] = struct{}{}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		if from = next; from == 0 {
			return keys
		}
	}
}

// TestReadersOfRangesSeeDirtyLines has everything that reads a range find what units have changed, and what they
// have removed, whether Pebble has it yet or not.
func TestReadersOfRangesSeeDirtyLines(t *testing.T) {
	oneGoroutine(t)
	rnd := seeded(t)
	fs := memdisk.New()
	s := openTest(t, memConfig(fs, FsyncEverySec))
	want := map[string]struct{}{}
	dirty := false
	check := func(step int, what string, got map[string]struct{}) {
		t.Helper()
		if !maps.Equal(got, want) {
			t.Fatalf("step %d: %s: %d keys, want %d", step, what, len(got), len(want))
		}
	}
	within := func(r ring.Range) map[string]struct{} {
		in := map[string]struct{}{}
		for key := range want {
			if r.Contains(s.token([]byte(key))) {
				in[key] = struct{}{}
			}
		}
		return in
	}
	randomRange := func() ring.Range {
		at := rnd.Uint32()
		return ring.Range{Start: ring.Token(at), End: ring.Token(at + rnd.Uint32N(1<<30))}
	}
	// holds has a removal counted that is about to be made, while commits are kept from beginning.
	holds := func(r ring.Range) func(*Held) error {
		return func(held *Held) error {
			load, err := held.RangeLoad(r)
			if n := int64(len(within(r))); err == nil && load.Keys != n {
				t.Errorf("%d keys are to be removed in %v, want %d", load.Keys, r, n)
			}
			return err
		}
	}
	for step := range 8000 {
		dirty = dirty || s.cache.DirtyBytes() > 0
		key := fmt.Sprintf("key-%d", rnd.IntN(1000))
		switch op := rnd.IntN(200); {
		case op < 110:
			s.set(t, key, strings.Repeat("v", rnd.IntN(300)), int64(rnd.IntN(2))*(s.now()+1<<40))
			want[key] = struct{}{}
		case op < 114:
			s.set(t, key, strings.Repeat("v", pieceSize+rnd.IntN(pieceSize)), 0)
			want[key] = struct{}{}
		case op < 180:
			s.inUnit(t, func(u *Unit) {
				v, err := u.Head([]byte(key))
				if err != nil {
					t.Fatal(err)
				}
				u.Delete([]byte(key), v)
			}, key)
			delete(want, key)
		case op < 185:
			check(step, "scan", s.scanned(t, 1+rnd.IntN(100)))
		case op < 190:
			r := randomRange()
			load, err := s.loads.RangeLoad(r)
			if n := int64(len(within(r))); err != nil || load.Keys != n {
				t.Fatalf("step %d: load of %v: %d keys, want %d: %v", step, r, load.Keys, n, err)
			}
		case op < 193:
			p, thaw, err := s.Freeze()
			if err != nil {
				t.Fatal(err)
			}
			thaw()
			keys := map[string]struct{}{}
			if _, _, err := p.ScanIn(ring.Whole, 0, 1<<20, func(e Entry) bool {
				keys[string(e.Key)] = struct{}{}
				return true
			}); err != nil {
				t.Fatal(err)
			}
			p.Close()
			check(step, "snapshot", keys)
		case op < 195:
			r := randomRange()
			if err := s.ClearRanges(nil, holds(r), r); err != nil {
				t.Fatal(err)
			}
			for key := range within(r) {
				delete(want, key)
			}
		case op < 197:
			if err := s.flushTables(); err != nil {
				t.Fatal(err)
			}
		case op < 199:
			if len(want) > 0 {
				k, err := s.scanner.RandomKeyIn(0, []ring.Range{ring.Whole})
				if _, ok := want[string(k)]; err != nil || !ok {
					t.Fatalf("step %d: random key %q: %v", step, k, err)
				}
			}
		case rnd.IntN(10) == 0:
			if err := s.Clear(nil, holds(ring.Whole)); err != nil {
				t.Fatal(err)
			}
			clear(want)
		default:
			if err := s.Sync(); err != nil {
				t.Fatal(err)
			}
			after := crash(fs, rnd, rnd.IntN(100))
			_ = s.Close()
			fs = after
			s = openTest(t, memConfig(fs, FsyncEverySec))
			check(step, "after a crash", s.scanned(t, 1000))
			if err := s.expirer.sweepDropped(); err != nil {
				t.Fatal(err)
			}
			s.audit(t)
		}
	}
	if !dirty {
		t.Error("no line was ever dirty")
	}
	if err := s.expirer.sweepDropped(); err != nil {
		t.Fatal(err)
	}
	s.audit(t)
	s.mustClose(t)
}

// TestScanSeesCommitsWhole has a scan see of a unit that writes a dirty line, and a value that goes to Pebble, both
// or neither.
func TestScanSeesCommitsWhole(t *testing.T) {
	s := openTest(t, memConfig(memdisk.New(), FsyncEverySec))
	small, large := []byte("small"), []byte("large")
	long := make([]byte, pieceSize+1)
	for i := range long {
		long[i] = 'x'
	}
	var scans atomic.Int64
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; scans.Load() < 500; i++ {
			s.inUnit(t, func(u *Unit) {
				for _, key := range [][]byte{small, large} {
					v, err := u.Head(key)
					if err != nil {
						t.Error(err)
						return
					}
					switch {
					case i%2 == 1:
						u.Delete(key, v)
					case len(key) > 0 && string(key) == "large":
						err = u.PutString(key, v, long, 0, false)
					default:
						err = u.PutString(key, v, key, 0, false)
					}
					if err != nil {
						t.Error(err)
					}
				}
			}, "small", "large")
		}
	})
	for range 500 {
		seen := map[string]bool{}
		if _, err := s.Scan(0, 100, func(e Entry) bool {
			seen[string(e.Key)] = true
			return true
		}); err != nil {
			t.Error(err)
		}
		if len(seen) == 1 {
			t.Errorf("a scan sees %v", seen)
		}
		scans.Add(1)
	}
	writer.Wait()
	s.mustClose(t)
}

// TestFullCacheOfDirtyLinesWritesThrough has more written than may be dirty while nothing is cleaned.
func TestFullCacheOfDirtyLinesWritesThrough(t *testing.T) {
	oneGoroutine(t)
	rnd := rand.New(rand.NewPCG(1, 1))
	s := openTest(t, memConfig(memdisk.New(), FsyncEverySec))
	close(s.stop) // no cleaner
	s.loops.Wait()
	s.stop = make(chan struct{})
	value := strings.Repeat("v", 1000)
	const keys = 8000
	for i := range keys {
		s.set(t, fmt.Sprintf("key-%d", i), value, 0)
	}
	if n, most := s.cache.DirtyBytes(), s.cache.Size(); n < most/4 || n > most*3/4 {
		t.Errorf("%d bytes of a cache of %d are dirty", n, most)
	}
	for range 1000 {
		key := fmt.Sprintf("key-%d", rnd.IntN(keys))
		if v, _ := s.get(t, key); v != value {
			t.Fatalf("%s has %d bytes", key, len(v))
		}
	}
	if n := len(s.scanned(t, 1000)); n != keys {
		t.Errorf("a scan comes by %d keys", n)
	}
	s.mustClose(t)
}

// Dirty lines are cleaned while there are many, so that the limit holds without anybody reading ranges.
func TestLinesAreCleanedInTheBackground(t *testing.T) {
	oneGoroutine(t)
	cfg := memConfig(memdisk.New(), FsyncEverySec)
	cfg.mostDirty = 64 << 10
	s := openTest(t, cfg)
	const keys = 5000
	for i := range keys {
		s.set(t, fmt.Sprintf("key-%d", i), strings.Repeat("v", 100), 0)
	}
	resptest.WaitFor(t, "lines to be cleaned", func() bool { return s.cache.DirtyBytes() <= cfg.mostDirty/2 })
	if n := len(s.scanned(t, 1000)); n != keys {
		t.Errorf("a scan comes by %d keys", n)
	}
	s.mustClose(t)
}
