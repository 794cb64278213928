package store

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// memConfig is a store on a file system that can crash.
func memConfig(fs vfs.FS, mode Fsync) Config {
	cfg := testConfig("/data/store")
	cfg.FS, cfg.Fsync, cfg.MemTable = fs, mode, 1<<20
	return cfg
}

// crash returns the file system as a crash leaves it: of what was not fsynced,
// some share has been lost.
func crash(fs *memdisk.FS, rnd *rand.Rand, keep int) *memdisk.FS {
	return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: keep, RNG: rand.New(rand.NewPCG(rnd.Uint64(), 1))})
}

func (s *Store) mustClose(t *testing.T) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// churnAll runs several churners at the same time, n units each, a third of that under -short.
func churnAll(t *testing.T, s *Store, rnd *rand.Rand, n int) {
	if testing.Short() {
		n = (n + 2) / 3
	}
	var all sync.WaitGroup
	for i := range 4 {
		c := &churner{rand.New(rand.NewPCG(rnd.Uint64(), 1)), s, []string{"a", "ab", "xyz", "x"}[i], 60, i == 3}
		all.Go(func() {
			for range n {
				c.run(t)
			}
		})
	}
	all.Wait()
}

func TestCountsAreRightAfterRandomOperations(t *testing.T) {
	rnd := seeded(t)
	dir := t.TempDir()
	for range lives(3) {
		s := openTest(t, testConfig(dir))
		s.audit(t)
		churnAll(t, s, rnd, 300)
		s.audit(t)
		s.mustClose(t)
	}
}

// TestCountsAreRightWithCheckpoints written at any moment.
func TestCountsAreRightWithCheckpoints(t *testing.T) {
	rnd := seeded(t)
	fs := memdisk.New()
	for range lives(3) {
		s := openTest(t, memConfig(fs, FsyncEverySec))
		stop := make(chan struct{})
		var checkpoints sync.WaitGroup
		checkpoints.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				if err := s.housekeeper.checkpointCounts(); err != nil {
					t.Error(err)
				}
			}
		})
		churnAll(t, s, rnd, 150)
		close(stop)
		checkpoints.Wait()
		want := s.audit(t)
		fs = crash(fs, rnd, 100)
		_ = s.Close()
		s = openTest(t, memConfig(fs, FsyncEverySec))
		if got := s.audit(t); !maps.EqualFunc(got.values, want.values, sameHeader) {
			t.Error("other keys after kill -9")
		}
		s.mustClose(t)
	}
}

func sameHeader(a, b layout.Header) bool { return string(a.Append(nil)) == string(b.Append(nil)) }

// TestCountsAreRightAfterACrash at any moment, whatever the fsync mode and
// whatever of what was not fsynced is lost.
func TestCountsAreRightAfterACrash(t *testing.T) {
	rnd := seeded(t)
	for _, mode := range modes() {
		t.Run(string(mode), func(t *testing.T) {
			fs := memdisk.New()
			for round := range lives(3) {
				s := openTest(t, memConfig(fs, mode))
				s.audit(t)
				done := make(chan struct{})
				own := rand.New(rand.NewPCG(uint64(round), rnd.Uint64()))
				go func() {
					defer close(done)
					churnAll(t, s, own, 60)
				}()
				var clones []*memdisk.FS
				for range 3 {
					for range rnd.IntN(20) {
						if err := s.housekeeper.checkpointCounts(); err != nil {
							t.Error(err)
						}
					}
					clones = append(clones, crash(fs, rnd, []int{0, 30, 100}[rnd.IntN(3)]))
				}
				<-done
				s.mustClose(t)
				for _, fs = range clones {
					s := openTest(t, memConfig(fs, mode))
					s.audit(t)
					s.mustClose(t)
				}
			}
		})
	}
}

// TestAcknowledgedWritesSurvive a kill -9 in every mode, and a loss of power with
// always.
func TestAcknowledgedWritesSurvive(t *testing.T) {
	rnd := seeded(t)
	for _, mode := range []Fsync{FsyncNo, FsyncEverySec, FsyncAlways} {
		t.Run(string(mode), func(t *testing.T) {
			for range 4 {
				fs := memdisk.New()
				s := openTest(t, memConfig(fs, mode))
				want := map[string]string{}
				for i := range 200 {
					key, value := fmt.Sprint("k", rnd.IntN(50)), fmt.Sprint("v", i)
					if rnd.IntN(20) == 0 {
						value += string(make([]byte, 3*pieceSize))
					}
					s.set(t, key, value, 0)
					want[key] = value
				}
				keep := 100
				if mode == FsyncAlways {
					keep = 0
				}
				again := openTest(t, memConfig(crash(fs, rnd, keep), mode))
				for key, value := range want {
					if got, _ := again.get(t, key); got != value {
						t.Errorf("%s: %.20q, want %.20q", key, got, value)
					}
				}
				again.audit(t)
				again.mustClose(t)
				s.mustClose(t)
			}
		})
	}
}

// TestClearAmongEverythingElse: writes, checkpoints and crashes at the same time.
func TestClearAmongEverythingElse(t *testing.T) {
	rnd := seeded(t)
	fs := memdisk.New()
	s := openTest(t, memConfig(fs, FsyncEverySec))
	stop := make(chan struct{})
	var background sync.WaitGroup
	for _, f := range []func() error{
		s.housekeeper.checkpointCounts,
		func() error { _, err := s.housekeeper.collectGarbage(); return err },
		func() error {
			var done Signal
			if err := s.Clear(&done, nil); err != nil {
				return err
			}
			return done.Wait()
		},
	} {
		background.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Millisecond):
				}
				if err := f(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	var clones []*memdisk.FS
	for range lives(10) {
		churnAll(t, s, rnd, 20)
		clones = append(clones, crash(fs, rnd, []int{0, 50, 100}[rnd.IntN(3)]))
	}
	close(stop)
	background.Wait()
	s.audit(t)
	s.mustClose(t)
	for _, fs := range append(clones, fs) {
		s := openTest(t, memConfig(fs, FsyncEverySec))
		s.audit(t)
		s.mustClose(t)
	}
}

func TestClear(t *testing.T) {
	dir := t.TempDir()
	s := openTest(t, testConfig(dir))
	churnAll(t, s, seeded(t), 50)
	var done Signal
	if err := s.Clear(&done, nil); err != nil {
		t.Fatal(err)
	}
	if err := done.Wait(); err != nil {
		t.Fatal(err)
	}
	if a := s.audit(t); a.keys != 0 || a.garbage != 0 {
		t.Errorf("%d keys and %d pieces of garbage are left", a.keys, a.garbage)
	}
	s.set(t, "a", "1", 0)
	s.mustClose(t)
	s = openTest(t, testConfig(dir))
	if a := s.audit(t); a.keys != 1 {
		t.Errorf("%d keys after one SET and reopening", a.keys)
	}
	s.mustClose(t)
	if err := s.Clear(&done, nil); err == nil {
		t.Error("a closed store was cleared")
	}
}

// rounds is how often a random test is to run: half as often with -short, where each step
// takes many times as long.
func rounds(n int) int {
	if testing.Short() {
		n = (n + 1) / 2
	}
	return n
}
