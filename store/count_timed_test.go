package store

import (
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// awaitTimed waits until the counts of hashes with fields that expire are right, and compares them with the hashes.
func (s *Store) awaitTimed(t *testing.T, database0, database2 int64) {
	t.Helper()
	s.loads.countTimed() // beside the goroutine that does it
	s.commits.RLock()
	known := s.counts.KnowsTimed()
	s.commits.RUnlock()
	if a, b := s.counts.TotalOf(0).TimedHashes, s.counts.TotalOf(2).TimedHashes; !known || a != database0 || b != database2 {
		t.Errorf("known %t: %d and %d hashes with fields that expire, want %d and %d", known, a, b, database0, database2)
	}
	s.audit(t)
}

// The directories were written by programs, and their processes were killed. That of timed_before does not count hashes
// with fields that expire: 4 small ones in database 0, one of which expires itself, and 2 large ones in database 2; a
// small one has lost its only expiry. Into timed_between a program that counts them has written 3 small ones, and a
// large one without; then the program before has given that one expiries, which changes nothing that it counts.
var timedDirectories = []struct {
	archive              string
	database0, database2 int64
}{{"testdata/timed_before.tar.gz", 4, 2}, {"testdata/timed_between.tar.gz", 3, 1}}

// TestTimedHashesOfEarlierDirectoriesAreCounted opens directories to which a program has written that does not count such
// hashes. The next start knows the result.
func TestTimedHashesOfEarlierDirectoriesAreCounted(t *testing.T) {
	for _, dir := range timedDirectories {
		fs := unpack(t, dir.archive)
		for range 2 {
			s := openTest(t, crashConfig(fs, FsyncAlways))
			s.awaitTimed(t, dir.database0, dir.database2)
			if err := s.flushTables(); err != nil { // as the goroutine is about to do
				t.Fatal(err)
			}
			s.Crash()
			_ = s.Close()
			s = openTest(t, crashConfig(fs, FsyncAlways))
			if s.counts.TotalOf(2).TimedHashes != dir.database2 || !s.counts.KnowsTimed() {
				t.Errorf("%s: after a crash %+v, known %t", dir.archive, s.counts.TotalOf(2), s.counts.KnowsTimed())
			}
			s.set(t, "one more", "value", 0)
			s.mustClose(t)
		}
	}
}

// TestTimedHashesAreCountedAgainAfterCrash has the process killed before every write to the disk while such hashes are
// counted: the start after that counts right.
func TestTimedHashesAreCountedAgainAfterCrash(t *testing.T) {
	oneGoroutine(t)
	for _, dir := range timedDirectories {
		fs := unpack(t, dir.archive)
		var mu sync.Mutex
		var taken []*memdisk.FS
		step := stepFS(fs, func(errorfs.Op) {
			mu.Lock()
			defer mu.Unlock()
			taken = append(taken, copyMem(fs))
		})
		s := openTest(t, crashConfig(step, FsyncAlways))
		s.awaitTimed(t, dir.database0, dir.database2)
		s.mustClose(t)
		if len(taken) < 20 {
			t.Errorf("%d steps", len(taken))
		}
		for _, fs := range taken {
			s := openTest(t, crashConfig(fs, FsyncAlways))
			s.awaitTimed(t, dir.database0, dir.database2)
			s.mustClose(t)
		}
	}
}

// TestTimedHashesAreCountedBesideWrites changes, drops and clears keys while such hashes are counted after each of them.
func TestTimedHashesAreCountedBesideWrites(t *testing.T) {
	rnd := seeded(t)
	s := openTest(t, memConfig(vfs.NewCrashableMem(), FsyncNo))
	c := &churner{rnd, s, "a", 200, false}
	for range 20 {
		for range 20 {
			c.run(t)
		}
		s.forgetTimed()
		end := make(chan struct{})
		var churning sync.WaitGroup
		churning.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-end:
					return
				default:
				}
				switch c.run(t); {
				case i%30 == 10:
					start := ring.Token(c.Uint32())
					if err := s.DropRanges(nil, ring.Range{Start: start, End: start + 1<<29}); err != nil {
						t.Error(err)
					}
				case i%300 == 299:
					if err := s.Clear(nil, nil); err != nil {
						t.Error(err)
					}
				}
			}
		})
		s.loads.countTimed()
		close(end)
		churning.Wait()
		if err := s.expirer.sweepDropped(); err != nil {
			t.Error(err)
		}
		s.audit(t)
	}
	s.mustClose(t)
}

// forgetTimed has the counts say that no hash has fields that expire.
func (s *Store) forgetTimed() {
	s.commits.Lock()
	defer s.commits.Unlock()
	s.counts.DoubtTimed()
	parts := map[counts.Part]Load{}
	for slice := range 1 << 16 {
		l := s.counts.LoadOf(uint16(slice))
		l.AddTo(parts, uint16(slice))
	}
	s.counts.CorrectTimed(parts, nil)
}
