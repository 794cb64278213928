package store

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

func crashConfig(fs vfs.FS, mode Fsync) Config {
	cfg := testConfig("/data/store")
	cfg.FS, cfg.Fsync = fs, mode
	cfg.MemTable = 1 << 20
	cfg.Cache = 1 << 20
	cfg.BlockCache = 1 << 20
	cfg.mostDirty = 8 << 10 // so that the cleaner has to work
	cfg.closing.kept = 1    // so that each Close writes tables
	return cfg
}

// afterCrash returns the file system as it might be found after a crash: of the process if unsynced is 100, of the
// machine if so many percent of what was not synced survive.
func afterCrash(fs *memdisk.FS, rng *rand.Rand, unsynced int) *memdisk.FS {
	if unsynced == 100 {
		return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
	}
	return fs.LosePower(rng, unsynced)
}

// An aftermath is the file system as it might be found after a crash, and how many
// units of each writer must be there.
type aftermath struct {
	fs       *memdisk.FS
	promised []int
}

// crashes lets the writers work on a store and takes a crash at each of a few random
// moments.
func (h *history) crashes(t *testing.T, rng *rand.Rand, fs *memdisk.FS, s *Store, unsynced func() int, promised func() []int) []aftermath {
	stop := h.run(t, s)
	var taken []aftermath
	for range 3 {
		time.Sleep(time.Duration(rng.IntN(60)) * time.Millisecond)
		p := promised()
		taken = append(taken, aftermath{afterCrash(fs, rng, unsynced()), p})
	}
	stop()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return taken
}

// throughCrashes goes through several lives of a store, each ended by a crash, in
// which unsynced percent of what was not synced survives. promises turns what has
// been acknowledged into what must survive.
func throughCrashes(t *testing.T, mode Fsync, unsynced func(*rand.Rand) int, promises func(*Store, *history) []int) {
	seed := testSeed(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	h := newHistory(seed, 6)
	fs := memdisk.New()
	s := openTest(t, crashConfig(fs, mode))
	n := lives(5)
	if isLong() {
		n = 1200 // with three crashes each
	}
	for range n {
		percent := func() int { return unsynced(rng) }
		taken := h.crashes(t, rng, fs, s, percent, func() []int { return promises(s, h) })
		// The last crash is the one that history goes on from.
		for i, c := range taken {
			fs = c.fs
			s = openTest(t, crashConfig(fs, mode))
			goOn := i == len(taken)-1
			h.verify(t, s, c.promised, goOn)
			if !goOn {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func somePercent(rng *rand.Rand) int { return []int{0, 5, 50, 95}[rng.IntN(4)] }

func allPercent(*rand.Rand) int { return 100 }

func nothingPromised(_ *Store, h *history) []int { return make([]int, len(h.writers)) }

func TestPowerLossAlways(t *testing.T) {
	throughCrashes(t, FsyncAlways, somePercent, func(_ *Store, h *history) []int { return h.promised() })
}

func TestPowerLossEverySec(t *testing.T) {
	throughCrashes(t, FsyncEverySec, somePercent, func(s *Store, h *history) []int {
		p := h.promised()
		_ = s.wal.Sync()
		return p
	})
}

func TestPowerLossNo(t *testing.T) {
	throughCrashes(t, FsyncNo, somePercent, nothingPromised)
}

// The process is gone and the operating system alive: whatever it was handed is
// there.
func TestKill(t *testing.T) {
	for _, mode := range []Fsync{FsyncAlways, FsyncEverySec, FsyncNo} {
		t.Run(string(mode), func(t *testing.T) {
			throughCrashes(t, mode, allPercent, func(_ *Store, h *history) []int { return h.promised() })
		})
	}
}

// A stepFS calls a function before each change of the file system.
func stepFS(fs vfs.FS, before func(errorfs.Op)) vfs.FS {
	return &hookFS{fs, func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			before(op)
		}
		return nil
	}}
}

// A crash before any single step of creating a store, using it, closing it and
// opening it again leaves one that opens, and holds what was promised.
func TestPowerLossAtEveryStep(t *testing.T) {
	randomtest.DrawShort(t, 4)
	for _, mode := range []Fsync{FsyncAlways, FsyncEverySec} {
		t.Run(string(mode), func(t *testing.T) {
			seed := testSeed(t)
			rng := rand.New(rand.NewPCG(seed, 2))
			h := newHistory(seed, 1)
			w := h.writers[0]
			fs := memdisk.New()
			var mu sync.Mutex
			var taken []aftermath
			step := stepFS(fs, func(errorfs.Op) {
				mu.Lock()
				defer mu.Unlock()
				p := make([]int, 1)
				if mode == FsyncAlways {
					p = h.promised()
				}
				for _, percent := range []int{0, 50} {
					taken = append(taken, aftermath{afterCrash(fs, rng, percent), p})
				}
				taken = append(taken, aftermath{afterCrash(fs, rng, 100), h.promised()})
			})
			for range 2 {
				s := openTest(t, crashConfig(step, mode))
				for range 5 {
					if err := w.do(s, w.next); err != nil {
						t.Fatal(err)
					}
					w.acked.Store(int64(w.next))
					w.next++
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
			if len(taken) < 100 {
				t.Fatalf("only %d crashes", len(taken))
			}
			for _, i := range rng.Perm(len(taken))[:min(len(taken), lives(150))] {
				s := openTest(t, crashConfig(taken[i].fs, mode))
				h.verify(t, s, taken[i].promised, false)
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// Logs are begun, ended and removed as fast as it goes, with crashes
// before each kind of these steps; what is left opens, several lives in a row.
func TestCrashesWhileLogsRotate(t *testing.T) {
	randomtest.Draw(t, 3)
	for _, mode := range modes() {
		t.Run(string(mode), func(t *testing.T) {
			seed := testSeed(t)
			rng := rand.New(rand.NewPCG(seed, 3))
			h := newHistory(seed, 3)
			fs := memdisk.New()
			for range lives(6) {
				var mu sync.Mutex
				var taken []aftermath
				removed := 0
				base := fs
				step := stepFS(base, func(op errorfs.Op) {
					if !strings.Contains(op.Path, "/log/") && !strings.Contains(op.Path, "MANIFEST") {
						return
					}
					mu.Lock()
					defer mu.Unlock()
					if op.Kind == errorfs.OpRemove && strings.HasSuffix(op.Path, wal.Suffix) {
						removed++
					}
					if len(taken) >= 12 || op.Kind == errorfs.OpFileWrite || rng.IntN(4) > 0 {
						return
					}
					percent, p := somePercent(rng), make([]int, len(h.writers))
					if mode == FsyncAlways {
						p = h.promised()
					} else if rng.IntN(2) == 0 {
						percent, p = 100, h.promised()
					}
					taken = append(taken, aftermath{afterCrash(base, rng, percent), p})
				})
				s := openTest(t, crashConfig(step, mode))
				stop := h.run(t, s)
				for range 25 {
					before := h.writers[0].acked.Load()
					resptest.WaitFor(t, "a write", func() bool { return h.writers[0].acked.Load() > before })
					if err := s.flushTables(); err != nil {
						t.Fatal(err)
					}
				}
				stop()
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if removed == 0 {
					t.Error("no log was removed")
				}
				for i, c := range taken {
					fs = c.fs
					s := openTest(t, crashConfig(fs, mode))
					h.verify(t, s, c.promised, i == len(taken)-1)
					if err := s.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}
