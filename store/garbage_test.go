package store

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// collectAll collects garbage until there is none.
func (s *Store) collectAll(t *testing.T) {
	t.Helper()
	for {
		n, err := s.housekeeper.collectGarbage()
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

func TestGarbageIsCollected(t *testing.T) {
	oneGoroutine(t)
	s := openTest(t, memConfig(vfs.NewMem(), FsyncEverySec))
	defer s.mustClose(t)
	churnAll(t, s, seeded(t), 200)
	before := s.audit(t)
	s.collectAll(t)
	after := s.audit(t)
	if after.garbage != 0 {
		t.Errorf("%d values of garbage are left", after.garbage)
	}
	if after.keys != before.keys || after.bytes != before.bytes {
		t.Errorf("%d keys of %d bytes became %d of %d", before.keys, before.bytes, after.keys, after.bytes)
	}
}

// TestGarbageIsCollectedByItself, also what was left before the store was opened.
func TestGarbageIsCollectedByItself(t *testing.T) {
	rnd := seeded(t)
	fs := memdisk.New()
	s := openTest(t, memConfig(fs, FsyncEverySec))
	for range 3 {
		churnAll(t, s, rnd, 40)
		fs = crash(fs, rnd, 100)
		_ = s.Close()
		s = openTest(t, memConfig(fs, FsyncEverySec))
	}
	left := func() int {
		n := 0
		iter, err := s.db.NewIter(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = iter.Close() }()
		for iter.SeekGE([]byte{layout.KindGarbage}); iter.Valid() && iter.Key()[0] == layout.KindGarbage; iter.Next() {
			n++
		}
		return n
	}
	resptest.WaitFor(t, "garbage is collected", func() bool { return left() == 0 })
	s.audit(t)
	s.mustClose(t)
}

// TestCollectingNeverTouchesLiveValues while they are replaced, changed in place,
// abandoned half-way and read at the same time.
func TestCollectingNeverTouchesLiveValues(t *testing.T) {
	randomtest.DrawShort(t, 2)
	rnd := seeded(t)
	s := openTest(t, memConfig(vfs.NewMem(), FsyncEverySec))
	defer s.mustClose(t)
	stop := make(chan struct{})
	var background, writers sync.WaitGroup
	background.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := s.housekeeper.collectGarbage(); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 { // readers of what everybody writes
		background.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, key := range []string{"a", "b", "c"} {
					checkFilled(t, s, key)
				}
			}
		})
	}
	for _, key := range []string{"a", "b", "c"} {
		r := rand.New(rand.NewPCG(rnd.Uint64(), 1))
		writers.Go(func() {
			for range lives(150) {
				writeFilled(t, s, key, byte('a'+r.IntN(26)), 2*pieceSize+r.IntN(3*pieceSize), r.IntN(4))
				checkFilled(t, s, key)
			}
		})
	}
	writers.Wait()
	close(stop)
	background.Wait()
	s.collectAll(t)
	if a := s.audit(t); a.garbage != 0 {
		t.Errorf("%d values of garbage are left", a.garbage)
	}
}

// writeFilled makes n times c the value of key, in one of several ways, or gives up
// after it has been written.
func writeFilled(t *testing.T, s *Store, key string, c byte, n, way int) {
	k, value := []byte(key), bytes.Repeat([]byte{c}, n)
	u := s.NewUnit()
	u.Begin(s.now(), []Place{u.Place(k)})
	v, err := u.Get(k)
	if err == nil && way == 1 && v.Exists() {
		// All of it, in place: the value is never a mixture, being in one batch.
		value = bytes.Repeat([]byte{c}, int(v.Size))
		_, err = u.WriteRange(k, v, 0, value)
	} else if err == nil {
		err = u.PutString(k, v, value, 0, false)
	}
	if err == nil && way == 2 {
		if v, err = u.Get(k); err == nil {
			err = u.PutString(k, v, value, 0, false) // again, in the same unit
		}
	}
	if err != nil {
		t.Error(err)
	}
	if way == 3 {
		u.Abort()
		return
	}
	var done Signal
	if wait, err := u.Commit(&done); err != nil || !wait || done.Wait() != nil {
		t.Errorf("commit: %v", err)
	}
}

// checkFilled reads a value that consists of one byte repeated.
func checkFilled(t *testing.T, s *Store, key string) {
	value, ok := s.get(t, key)
	if ok && (value == "" || len(bytes.Trim([]byte(value), value[:1])) > 0) {
		t.Errorf("%s, of %d bytes, is a mixture", key, len(value))
	}
}

// TestGenerationsNeverRepeat across restarts and crashes, under any mode.
func TestGenerationsNeverRepeat(t *testing.T) {
	rnd := seeded(t)
	for _, mode := range []Fsync{FsyncNo, FsyncEverySec, FsyncAlways} {
		fs := memdisk.New()
		used := map[uint64]bool{}
		for range 12 {
			s := openTest(t, memConfig(fs, mode))
			last := uint64(0)
			for range rnd.IntN(5) {
				if rnd.IntN(3) == 0 { // as if a block had been used up
					s.generations.Exhaust()
				}
				gen, err := s.newGeneration()
				if err != nil {
					t.Fatal(err)
				}
				if used[gen] || gen <= last {
					t.Errorf("%s: generation %d after %d, used before: %t", mode, gen, last, used[gen])
				}
				used[gen], last = true, gen
				s.generations.Release(gen)
			}
			if rnd.IntN(2) == 0 {
				s.mustClose(t)
				continue
			}
			// Without an fsync even the generations may be lost, but then with
			// all values that have them.
			keep := 100
			if mode == FsyncAlways {
				keep = 0
			}
			crashed := crash(fs, rnd, keep)
			s.mustClose(t)
			fs = crashed
		}
	}
}

// TestPiecesAfterACrash that loses part of the log: each belongs to a header or is
// named as garbage.
func TestPiecesAfterACrash(t *testing.T) {
	randomtest.DrawShort(t, 4)
	rnd := seeded(t)
	fs := memdisk.New()
	for range lives(4) {
		s := openTest(t, memConfig(fs, FsyncNo))
		s.audit(t)
		done := make(chan struct{})
		go func() {
			defer close(done)
			r := rand.New(rand.NewPCG(1, 2))
			for range 20 {
				writeFilled(t, s, "k", byte('a'+r.IntN(26)), 20*pieceSize+r.IntN(30*pieceSize), r.IntN(4))
			}
		}()
		var clones []*memdisk.FS
		for range 4 {
			clones = append(clones, crash(fs, rnd, rnd.IntN(101)))
		}
		<-done
		s.mustClose(t)
		for _, fs = range clones {
			s := openTest(t, memConfig(fs, FsyncNo))
			s.audit(t)
			checkFilled(t, s, "k")
			s.collectAll(t)
			if a := s.audit(t); a.garbage != 0 {
				t.Errorf("%d values of garbage are left", a.garbage)
			}
			s.mustClose(t)
		}
	}
}

// TestLongStringsOfZeros have no pieces, and come back all the same.
func TestLongStringsOfZeros(t *testing.T) {
	s := openTest(t, memConfig(vfs.NewMem(), FsyncNo))
	defer s.mustClose(t)
	zeros := make([]byte, 3*pieceSize+1)
	s.set(t, "z", string(zeros), 0)
	if v, _ := s.get(t, "z"); v != string(zeros) {
		t.Errorf("%d bytes came back as %d", len(zeros), len(v))
	}
	s.audit(t)
	s.inUnit(t, func(u *Unit) {
		v, err := u.Get([]byte("z"))
		if err != nil {
			t.Fatal(err)
		}
		u.Delete([]byte("z"), v)
	}, "z")
	s.collectAll(t)
	if a := s.audit(t); a.keys+int64(a.garbage) != 0 {
		t.Errorf("%d keys, %d values of garbage", a.keys, a.garbage)
	}
}

// TestGarbageKeysAreOrderedByPlace: see the layout in garbage.go.
func TestGarbageKeysAreOrderedByPlace(t *testing.T) {
	key := garbageKey(nil, 7, []byte("k"), 9)
	p, k, gen, err := layout.SplitPlacedKey(key[1:])
	if err != nil || p != 7 || string(k) != "k" || binary.BigEndian.Uint64(gen) != 9 {
		t.Errorf("%d %q %x %v", p, k, gen, err)
	}
	if !slices.IsSortedFunc([][]byte{key, garbageKey(nil, 7, []byte("k"), 10), garbageKey(nil, 8, nil, 1)}, bytes.Compare) {
		t.Error("out of order")
	}
}
