package store

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// loadOf is what RangeLoad should say.
func (a *audit) loadOf(r ring.Range) (l Load) {
	for key, h := range a.values {
		if r.Contains(testToken([]byte(key))) {
			l.Keys++
			l.Bytes += int64(len(key)) + h.Size()
			if h.Expiry != 0 {
				l.Expires++
			}
			if h.HasTimedFields() {
				l.TimedHashes++
			}
		}
	}
	return l
}

// TestRangeLoadIsExact, also where a range's ends cut slices, and after a restart.
func TestRangeLoadIsExact(t *testing.T) {
	oneGoroutine(t)
	rnd := seeded(t)
	fs := memdisk.New()
	s := openTest(t, memConfig(fs, FsyncNo))
	for round := range rounds(3) {
		churnAll(t, s, rnd, 60)
		a := s.audit(t)
		ranges := []ring.Range{ring.Whole}
		for range 30 {
			ranges = append(ranges, randomRange(rnd))
		}
		for key := range a.values { // cuts next to keys
			at := testToken([]byte(key))
			ranges = append(ranges, ring.Range{Start: at, End: at + 1}, ring.Range{Start: at + 1, End: at})
		}
		for _, r := range ranges {
			got, err := s.RangeLoad(r)
			if err != nil {
				t.Fatal(err)
			}
			if got.Heaviest > got.Bytes || got.Heaviest == 0 && got.Bytes > 0 {
				t.Errorf("%v: heaviest slice %d of %d bytes", r, got.Heaviest, got.Bytes)
			}
			got.Heaviest = 0
			if want := a.loadOf(r); got != want {
				t.Errorf("%v: %+v, want %+v", r, got, want)
			}
		}
		if round == 1 { // as a program left it that does not count expiries per slice
			if err := s.housekeeper.checkpointCounts(); err != nil {
				t.Fatal(err)
			}
			if err := s.db.Set(counts.ExpiresKey, []byte{1}, pebble.NoSync); err != nil {
				t.Fatal(err)
			}
			crashed := crash(fs, rnd, 100)
			s.mustClose(t)
			fs = crashed
			s = openTest(t, memConfig(fs, FsyncNo))
			s.audit(t)
			continue
		}
		s.mustClose(t)
		s = openTest(t, memConfig(fs, FsyncNo))
	}
	s.mustClose(t)
}

// TestDropRanges removes what lies in them and nothing else, from the cache, too, while
// writes to the rest go on.
func TestDropRanges(t *testing.T) {
	rnd := seeded(t)
	for range lives(4) {
		r := randomRange(rnd)
		s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
		churnAll(t, s, rnd, 60)
		rest := ring.Range{Start: r.End, End: r.Start}
		before := s.content(t, rest, false)
		if r.Start == r.End {
			before = map[string]string{}
		}
		if err := putOff(func() error { return s.DropRanges(nil, r) }); err != nil {
			t.Fatal(err)
		}
		if l, err := s.RangeLoad(r); err != nil || l != (Load{}) {
			t.Errorf("%v holds %+v after it was dropped, %v", r, l, err)
		}
		if after := s.content(t, ring.Whole, false); !maps.Equal(after, before) {
			t.Errorf("%v: %d entries are left, want %d", r, len(after), len(before))
		}
		sweepAll(t, s)
		s.audit(t)
		checkCache(t, s)
		s.skew.Store(0)
		churnAll(t, s, rnd, 30)
		sweepAll(t, s) // the second sweep has nothing to do
		s.audit(t)
		s.mustClose(t)
	}
}

// TestDropWithWritersAndCheckpoints: the counts are right whatever happens meanwhile.
func TestDropWithWritersAndCheckpoints(t *testing.T) {
	randomtest.DrawShort(t, 4)
	rnd := seeded(t)
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	stop := make(chan struct{})
	var others sync.WaitGroup
	r := rand.New(rand.NewPCG(rnd.Uint64(), 1))
	others.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			var err error
			switch r.IntN(4) {
			case 0:
				err = s.housekeeper.checkpointCounts()
			case 1:
				err = s.expirer.sweepDropped()
			default:
				first, second := randomRange(r), randomRange(r)
				err = putOff(func() error { return s.DropRanges(nil, first, second) })
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	churnAll(t, s, rnd, 150)
	close(stop)
	others.Wait()
	sweepAll(t, s)
	s.audit(t)
	checkCache(t, s)
}

// TestTappedRangeIsNotDropped: those who follow would not hear of it.
func TestTappedRangeIsNotDropped(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	var rec recorder
	tap := mustTap(t, s, ring.Range{Start: 1 << 31, End: 0}, rec.sink)
	if err := s.DropRanges(nil, ring.Range{Start: 0, End: 1<<31 + 1}); !errors.Is(err, ErrOverlap) {
		t.Error(err)
	}
	if err := putOff(func() error { return s.DropRanges(nil, ring.Range{Start: 0, End: 1 << 31}) }); err != nil {
		t.Error(err)
	}
	w := newTold()
	if err := s.ClearRanges(w, nil, ring.Range{Start: 0, End: 1<<31 + 1}); err != nil {
		t.Fatal(err)
	}
	settleAll(s)
	if rec.count() != 1 || w.done.Load() {
		t.Errorf("%d changes, told %t", rec.count(), w.done.Load())
	}
	tap.Close(nil)
	<-w.ch
}

// TestDropAfterACrash at any moment: a range is there or is not, and the counts know.
func TestDropAfterACrash(t *testing.T) {
	rnd := seeded(t)
	for _, mode := range modes() {
		t.Run(string(mode), func(t *testing.T) {
			fs := memdisk.New()
			for range lives(3) {
				s := openTest(t, memConfig(fs, mode))
				churnAll(t, s, rnd, 40)
				r := ring.Range{Start: ring.Token(rnd.Uint32()), End: ring.Token(rnd.Uint32())}
				full := s.content(t, r, false)
				rest := s.content(t, ring.Range{Start: r.End, End: r.Start}, false)
				if err := s.housekeeper.checkpointCounts(); err != nil {
					t.Fatal(err)
				}
				_ = s.wal.Sync()
				var clones []*memdisk.FS
				var done Signal
				if err := putOff(func() error { return s.DropRanges(&done, r) }); err != nil {
					t.Fatal(err)
				}
				clones = append(clones, crash(fs, rnd, []int{0, 50, 100}[rnd.IntN(3)]))
				if err := done.Wait(); err != nil {
					t.Fatal(err)
				}
				keep := 100
				if mode == FsyncAlways {
					keep = 0
				}
				clones = append(clones, crash(fs, rnd, keep)) // nothing promised is lost
				if err := s.expirer.sweepDropped(); err != nil {
					t.Fatal(err)
				}
				clones = append(clones, crash(fs, rnd, keep))
				s.mustClose(t)
				for i, clone := range clones {
					s := openTest(t, memConfig(clone, mode))
					got := s.content(t, r, false)
					if len(got) != 0 && (i > 0 || !maps.Equal(got, full)) {
						t.Errorf("clone %d: %d entries of %d after a crash", i, len(got), len(full))
					}
					if got := s.content(t, ring.Range{Start: r.End, End: r.Start}, false); r.Start != r.End && !maps.Equal(got, rest) {
						t.Errorf("clone %d: %d entries beside the range of %d", i, len(got), len(rest))
					}
					sweepAll(t, s)
					s.audit(t)
					s.mustClose(t)
					fs = clone
				}
			}
		})
	}
}

// TestApplyAfterACrash: of each batch all or nothing, and what is behind follows.
func TestApplyAfterACrash(t *testing.T) {
	randomtest.Draw(t, 3)
	randomtest.DrawShort(t, 4)
	rnd := seeded(t)
	src := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer src.mustClose(t)
	for _, mode := range modes() {
		t.Run(string(mode), func(t *testing.T) {
			churnAll(t, src, rnd, 30)
			fs := memdisk.New()
			dst := openTest(t, memConfig(fs, mode))
			l := newLink(t, src, dst, ring.Whole)
			var clones []*memdisk.FS
			for !l.copy.Done() {
				if err := l.chunk(20_000, 0, false); err != nil {
					t.Fatal(err)
				}
				(&churner{rnd, src, "a", 60, false}).run(t)
				if len(clones) < 4 {
					clones = append(clones, crash(fs, rnd, []int{0, 50, 100}[rnd.IntN(3)]))
				}
			}
			l.close(t)
			mustEqual(t, ring.Whole, src, dst)
			dst.mustClose(t)
			for _, clone := range clones {
				dst := openTest(t, memConfig(clone, mode))
				sweepAll(t, dst)
				dst.audit(t)
				// What is there is a start for the next copy.
				l := newLink(t, src, dst, ring.Whole)
				for !l.copy.Done() {
					if err := l.chunk(ChunkSize, 50, true); err != nil {
						t.Fatal(err)
					}
				}
				l.close(t)
				mustEqual(t, ring.Whole, src, dst)
				dst.collectAll(t)
				if a := dst.audit(t); a.garbage != 0 {
					t.Errorf("%d values of garbage are left", a.garbage)
				}
				dst.mustClose(t)
			}
		})
	}
}

// TestSweepKeepsRefilledRange: the index of a range that was dropped and filled again.
func TestSweepKeepsRefilledRange(t *testing.T) {
	fs := vfs.NewMem()
	s := openTest(t, memConfig(fs, FsyncNo))
	at := s.now() + 3_600_000
	for i := range 1000 {
		s.set(t, fmt.Sprint("k", i), "v", at+int64(i%7))
	}
	if err := putOff(func() error { return s.DropRanges(nil, ring.Whole) }); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		s.set(t, fmt.Sprint("k", i), "v", at+int64(i%5))
	}
	s.mustClose(t)
	s = openTest(t, memConfig(fs, FsyncNo)) // the housekeeping sweeps by itself
	resptest.WaitFor(t, "the index is swept", func() bool {
		sts, err := s.expirer.droppedIntervals()
		return err == nil && len(sts) == 0
	})
	if a := s.audit(t); a.keys != 100 || a.expires != 100 {
		t.Errorf("%d keys, %d with an expiry", a.keys, a.expires)
	}
	s.mustClose(t)
}

// putOff does again what was put off since a unit held a latch, which on a busy machine may be
// any unit that waits for the processor.
func putOff(do func() error) error {
	for {
		if err := do(); !errors.Is(err, ErrLatched) {
			return err
		}
	}
}
