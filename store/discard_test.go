package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// damaged opens a store of many keys in tables, one of which has a damaged block.
func damaged(t *testing.T, fs *memdisk.FS, rnd *rand.Rand) (*Store, Config) {
	t.Helper()
	cfg := memConfig(fs, FsyncEverySec)
	cfg.BlockCache, cfg.Cache = 1<<20, 0
	s := openTest(t, cfg)
	s.fill(t, 6400, 300)
	s.set(t, "long", strings.Repeat("x", 5*pieceSize), 0)
	err := s.db.Compact(t.Context(), []byte{layout.KindData}, []byte{layout.KindData + 1}, false)
	if err := errors.Join(err, s.flushTables()); err != nil { // the log would bring back what is damaged
		t.Fatal(err)
	}
	s.mustClose(t)
	tables := filesIn(t, fs, "/data/store/data", ".sst")
	large := ""
	for _, path := range tables {
		if len(readFile(t, fs, path)) > 100_000 {
			large = path
		}
	}
	b := readFile(t, fs, large)
	at := len(b)/4 + rnd.IntN(len(b)/4)
	t.Logf("damage at %d of %d of %s", at, len(b), large)
	b[at] ^= 0x10
	writeFile(t, fs, large, b)
	return openTest(t, cfg), cfg
}

// TestDamageIsDiscarded: it is found, its range is emptied without being read, and is as
// good as new then, also where the damage has made the store refuse writes; what lies
// beside it stays.
func TestDamageIsDiscarded(t *testing.T) {
	oneGoroutine(t)
	for _, how := range []string{"at once", "writes are refused", "crash before the cut"} {
		t.Run(how, func(t *testing.T) {
			rnd := seeded(t)
			fs := memdisk.New()
			s, cfg := damaged(t, fs, rnd)
			var bad []ring.Range
			for i := range 64 {
				r := ring.Range{Start: ring.Token(i) << 26, End: ring.Token(i+1) << 26}
				switch err := s.CheckRange(t.Context(), r, nil); {
				case errors.Is(err, ErrDamaged):
					bad = append(bad, r)
				case err != nil:
					t.Fatal(err)
				}
			}
			if len(bad) == 0 || len(bad) > 8 { // a block or two, of eight or more
				t.Fatalf("%d ranges of 64 are damaged", len(bad))
			}
			if d := s.Damaged(); len(d) == 0 {
				t.Error("nothing is known of it")
			}
			around := ring.Range{Start: bad[0].Start, End: bad[len(bad)-1].End}
			rest := ring.Range{Start: around.End, End: around.Start}
			// As a node's ranges do, these cut slices.
			around.Start, around.End = around.Start-0x1234, around.End+0x4321
			rest.Start, rest.End = around.End, around.Start
			want := s.content(t, rest, true)
			if how == "writes are refused" {
				if err := s.db.Compact(t.Context(), []byte{layout.KindData}, []byte{layout.KindData + 1}, false); err == nil {
					t.Error("the damaged table was merged")
				}
				resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
			}
			if how == "crash before the cut" {
				var done Signal
				if err := s.dropper.drop(layout.Union(layout.PiecesOf(around)), dropOptions{}, &done); err != nil {
					t.Skip("the damage lies where the range is counted:", err)
				}
				if err := done.Wait(); err != nil {
					t.Fatal(err)
				}
				b := s.db.NewBatch()
				for _, st := range layout.PiecesOf(around) {
					_ = b.Set(discardKey(st), nil, nil)
				}
				if err := s.writeRemovalNow(b); err != nil {
					t.Fatal(err)
				}
				_ = b.Close()
				fs = crash(fs, rnd, 100)
				_ = s.Close()
				cfg.FS = fs
				s = openTest(t, cfg)
			} else if err := putOff(func() error { return s.DiscardRanges(around) }); err != nil {
				t.Fatal(err)
			}
			if err := s.Writable(); err != nil {
				t.Fatal(err)
			}
			if sts, err := s.markedIntervals(discardPrefix); err != nil || len(sts) > 0 {
				t.Errorf("marks are left: %v, %v", sts, err)
			}
			if d := s.Damaged(); how != "crash before the cut" && s.CheckTables(t.Context(), ring.Whole, nil) == nil && len(s.Damaged()) > 0 {
				t.Errorf("%v is damaged still", d)
			}
			mustHold(t, s, rest, want)
			// It takes in new data, and can be merged.
			for i := range 200 {
				s.set(t, fmt.Sprint("new", i), "v", 0)
			}
			if err := s.db.Compact(t.Context(), []byte{layout.KindData}, []byte{layout.KindData + 1}, false); err != nil {
				t.Error(err)
			}
			sweepAll(t, s)
			s.audit(t)
			s.mustClose(t)
			s = openTest(t, cfg)
			if v, _ := s.get(t, "new7"); v != "v" {
				t.Errorf("after opening it again: %q", v)
			}
			s.audit(t)
			s.mustClose(t)
		})
	}
}

// TestDamageAcrossAnEnd is told: the range is empty, and more has to go.
func TestDamageAcrossAnEnd(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	rnd := seeded(t)
	s, _ := damaged(t, memdisk.New(), rnd)
	defer s.mustClose(t)
	u := s.NewUnit()
	u.Begin(s.now(), nil)
	var at []ring.Token
	for i := range 6400 {
		key := fmt.Appendf(nil, "key:%012d", i)
		if _, err := u.Get(key); errors.Is(err, ErrDamaged) {
			at = append(at, s.token(key))
		}
	}
	u.Abort()
	if len(at) < 3 {
		t.Fatalf("%d keys are damaged", len(at))
	}
	slices.Sort(at)
	first := ring.Range{Start: at[0] - 5<<24, End: at[len(at)/2]}
	whole := ring.Range{Start: first.Start, End: at[len(at)-1] + 5<<24}
	rest := ring.Range{Start: whole.End, End: whole.Start}
	want := s.content(t, rest, true)
	if err := s.DiscardRanges(first); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	mustHold(t, s, rest, want)
	if err := putOff(func() error { return s.DiscardRanges(whole) }); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckTables(t.Context(), ring.Whole, nil); err != nil {
		t.Error(err)
	}
	mustHold(t, s, rest, want)
	if d := s.Damaged(); len(d) > 0 {
		t.Errorf("%v is damaged still", d)
	}
	sweepAll(t, s)
	s.audit(t)
}

// TestDamageOfRemovedDataIsDiscarded: no read meets it, but it keeps tables from being merged.
func TestDamageOfRemovedDataIsDiscarded(t *testing.T) {
	rnd := seeded(t)
	s, _ := damaged(t, memdisk.New(), rnd)
	defer s.mustClose(t)
	if err := errors.Join(putOff(func() error { return s.DropRanges(nil, ring.Whole) }), s.flushTables()); err != nil {
		t.Skip("the damage lies where the range is counted:", err)
	}
	sweepAll(t, s)
	if err := s.db.Compact(t.Context(), []byte{layout.KindData}, []byte{layout.KindData + 1}, false); err == nil {
		t.Fatal("the damaged table was merged")
	}
	resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
	if err := s.CheckRange(t.Context(), ring.Whole, nil); err != nil {
		t.Errorf("something that is not removed is damaged: %v", err)
	}
	if d := s.Damaged(); len(d) == 0 {
		t.Error("the damage is forgotten")
	}
	if err := s.CheckTables(t.Context(), ring.Whole, nil); !errors.Is(err, ErrDamaged) {
		t.Errorf("what is removed can be read: %v", err)
	}
	if err := putOff(func() error { return s.DiscardRanges(ring.Whole) }); err != nil {
		t.Fatal(err)
	}
	if err := s.CheckTables(t.Context(), ring.Whole, nil); err != nil {
		t.Error(err)
	}
	if err := s.Writable(); err != nil {
		t.Error(err)
	}
	s.set(t, "new", "v", 0)
	if err := s.db.Compact(t.Context(), []byte{layout.KindData}, []byte{layout.KindData + 1}, false); err != nil {
		t.Error(err)
	}
	s.audit(t)
}

// TestDamageMetBeforeItWasCutOut is not taken for more: a compaction that fails says so up to a second later.
func TestDamageMetBeforeItWasCutOut(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	events, met := s.health.listener(), fmt.Errorf("a block: %w", pebble.ErrCorruption)
	events.CompactionBegin(pebble.CompactionInfo{JobID: 1 << 30})
	s.health.merges.Removed()
	events.CompactionBegin(pebble.CompactionInfo{JobID: 1<<30 + 1})
	events.CompactionEnd(pebble.CompactionInfo{JobID: 1 << 30, Err: met})
	if err := s.Writable(); err != nil {
		t.Error(err)
	}
	events.CompactionEnd(pebble.CompactionInfo{JobID: 1<<30 + 1, Err: met})
	if err := s.Writable(); !errors.Is(err, ErrDamaged) {
		t.Errorf("damage that is still there: %v", err)
	}
}

// TestRemovedKeysAreCountedByTheRemaining as well as by reading it.
func TestRemovedKeysAreCountedByTheRemaining(t *testing.T) {
	oneGoroutine(t)
	rnd := seeded(t)
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	churnAll(t, s, rnd, 30)
	if err := s.cleaner.Clean(0, cleaner.LastSlice); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		var sts []layout.Interval
		for range 1 + rnd.IntN(3) {
			token := testToken(fmt.Appendf(nil, "a%d", rnd.IntN(60))) // of a key, maybe
			sts = append(sts, layout.PiecesOf(ring.Range{Start: token - ring.Token(rnd.IntN(2)), End: token + ring.Token(rnd.IntN(1<<18)) + 1})...)
		}
		sts = layout.Union(sts)
		lost, err := s.dropper.computeLoss(sts, false)
		if err != nil {
			t.Fatal(err)
		}
		read := lost.parts
		unread, _ := s.discarder.estimateLoss(sts)
		for slice := range read {
			a, b := read[slice], unread[slice]
			if a.Keys != b.Keys || a.Bytes != b.Bytes || a.Expires != b.Expires {
				t.Fatalf("slice %d of %v: %+v, and by what stays %+v", slice, sts, a, b)
			}
		}
		for slice, l := range unread {
			if _, ok := read[slice]; !ok && l != (Load{}) {
				t.Fatalf("slice %d of %v: %+v by what stays", slice, sts, l)
			}
		}
	}
}

// mustHold compares what a store holds of a range with what it held.
func mustHold(t *testing.T, s *Store, r ring.Range, want map[string]string) {
	t.Helper()
	got := s.content(t, r, true)
	for pos, v := range want {
		if got[pos] != v {
			t.Fatalf("%s has changed", describe(pos))
		}
		delete(got, pos)
	}
	for pos := range got {
		t.Fatalf("%s is new", describe(pos))
	}
}

// TestDiscardRefusesTappedRanges, and discards nothing of another range.
func TestDiscardRefusesTappedRanges(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	s.fill(t, 640, 20)
	low := ring.Range{Start: 0, End: 1 << 31}
	tap := mustTap(t, s, low, func(Change) {})
	if err := s.DiscardRanges(ring.Range{Start: 5, End: 6}); !errors.Is(err, ErrOverlap) {
		t.Errorf("a tapped range: %v", err)
	}
	want := s.content(t, low, true)
	if err := putOff(func() error { return s.DiscardRanges(ring.Range{Start: 1 << 31, End: 0}) }); err != nil {
		t.Error(err)
	}
	mustHold(t, s, ring.Whole, want)
	sweepAll(t, s)
	s.audit(t)
	tap.Close(nil)
	if err := putOff(func() error { return s.DiscardRanges(ring.Whole) }); err != nil {
		t.Error(err)
	}
	mustHold(t, s, ring.Whole, nil)
	sweepAll(t, s)
	s.audit(t)
}

// TestDamageLeavesTimeToDiscardIt: writes go on for the grace, and no longer.
func TestDamageLeavesTimeToDiscardIt(t *testing.T) {
	rnd := seeded(t)
	for _, grace := range []time.Duration{time.Hour, 50 * time.Millisecond} {
		if testing.Short() && grace == time.Hour {
			continue
		}
		s, cfg := damaged(t, memdisk.New(), rnd)
		s.mustClose(t)
		cfg.DamageGrace, cfg.healthPeriod = grace, 10*time.Millisecond
		s = openTest(t, cfg)
		if err := s.db.Compact(t.Context(), []byte{layout.KindData}, []byte{layout.KindData + 1}, false); err == nil {
			t.Error("the damaged table was merged")
		}
		resptest.WaitFor(t, "the damage is known", func() bool { return len(s.Damaged()) > 0 })
		if grace == time.Hour {
			s.set(t, "new", "v", 0)
			if err := s.Writable(); err != nil {
				t.Error(err)
			}
		} else {
			resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
		}
		if err := putOff(func() error { return s.DiscardRanges(ring.Whole) }); err != nil {
			t.Error(err)
		}
		if err := s.Writable(); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * cfg.healthPeriod)
		s.set(t, "newer", "v", 0)
		s.audit(t)
		s.mustClose(t)
	}
}
