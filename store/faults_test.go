package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A faultyFS fails as its fault says, from inject until end.
type faultyFS struct {
	vfs.FS
	fault atomic.Pointer[fault]
	hits  atomic.Int64
}

// A fault returns an error for the operations that fail.
type fault func(op errorfs.Op) error

func newFaultyFS(fs vfs.FS) *faultyFS {
	f := &faultyFS{}
	f.FS = &hookFS{fs, func(op errorfs.Op) error {
		inject := f.fault.Load()
		if inject == nil {
			return nil
		}
		err := (*inject)(op)
		if err != nil {
			f.hits.Add(1)
		}
		return err
	}}
	return f
}

func (f *faultyFS) inject(what fault) { f.fault.Store(&what) }

func (f *faultyFS) end() { f.fault.Store(nil) }

// on makes a fault of the operations of some kinds on files whose path holds name.
func on(name string, err error, kinds ...errorfs.OpKind) fault {
	return func(op errorfs.Op) error {
		if !strings.Contains(op.Path, name) {
			return nil
		}
		for _, k := range kinds {
			if op.Kind == k {
				return fmt.Errorf("%s: %w", op.Path, err)
			}
		}
		return nil
	}
}

// either is both of two faults.
func either(a, b fault) fault {
	return func(op errorfs.Op) error { return errors.Join(a(op), b(op)) }
}

func always(what fault) func() fault { return func() fault { return what } }

// once lets a fault happen a single time.
func once(what fault) func() fault {
	return func() fault {
		var done atomic.Bool
		return func(op errorfs.Op) error {
			if done.Load() {
				return nil
			}
			err := what(op)
			if err != nil && done.Swap(true) {
				return nil
			}
			return err
		}
	}
}

// few fails the test if a counter rises by more than a hundred a second. It measures the time
// that passes, so a machine that is slow does not make a test fail.
func few[N int32 | int64](t *testing.T, what string, count func() N) {
	t.Helper()
	began, before := time.Now(), count()
	time.Sleep(200 * time.Millisecond)
	n := float64(count() - before)
	if most := 100 * time.Since(began).Seconds(); n > most {
		t.Errorf("%v %s, at most %v may be", n, what, most)
	}
}

func faultConfig(fs vfs.FS, mode Fsync) Config {
	cfg := crashConfig(fs, mode)
	cfg.healthPeriod = 10 * time.Millisecond
	return cfg
}

// On a disk whose fsync hangs, everysec promises no more than it can keep: writes
// that come when the last fsync is too long ago wait for it.
func TestHangingFsync(t *testing.T) {
	hang, hanging := make(chan struct{}), make(chan struct{})
	var began sync.Once
	fs := newFaultyFS(vfs.NewMem())
	s := openTest(t, faultConfig(fs, FsyncEverySec))
	s.wal.SetPatience(resptest.Patience)
	s.set(t, "a", "1", 0)
	fs.inject(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSyncData && strings.HasSuffix(op.Path, wal.Suffix) {
			began.Do(func() { close(hanging) })
			<-hang
		}
		return nil
	})
	s.set(t, "a", "2", 0)
	go func() { _ = s.wal.Sync() }()
	<-hanging
	s.set(t, "a", "3", 0) // the last tick is not too long ago
	s.wal.SetPatience(0)  // now it is; nothing is being written
	acknowledged := make(chan error, 1)
	go func() {
		u := s.NewUnit()
		u.Begin(s.now(), []Place{u.Place([]byte("a"))})
		v, err := u.Get([]byte("a"))
		if err == nil {
			err = u.PutString([]byte("a"), v, []byte("4"), 0, false)
		}
		var done Signal
		if err == nil {
			_, err = u.Commit(&done)
		}
		if err == nil {
			err = done.Wait()
		}
		acknowledged <- err
	}()
	select {
	case err := <-acknowledged:
		t.Errorf("acknowledged while the fsync hangs: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	fs.end()
	close(hang)
	if err := <-acknowledged; err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

var logFaults = []struct {
	name string
	what func() fault
	// lasting: no write can succeed while the fault is there.
	lasting bool
}{
	{"write", always(on(wal.Suffix, syscall.ENOSPC, errorfs.OpFileWrite)), true},
	{"write once", once(on(wal.Suffix, syscall.EIO, errorfs.OpFileWrite)), false},
	{"short write", always(on(wal.Suffix, errShort, errorfs.OpFileWrite)), true},
	{"short write once", once(on(wal.Suffix, errQuietlyShort, errorfs.OpFileWrite)), false},
	{"create", always(on(wal.Suffix, syscall.ENOSPC, errorfs.OpCreate)), true},
	{"create once", once(on(wal.Suffix, syscall.ENOSPC, errorfs.OpCreate)), false},
	{"directory sync", always(on("/log", syscall.EIO, errorfs.OpFileSync)), true},
	{"directory sync once", once(on("/log", syscall.EIO, errorfs.OpFileSync)), false},
	{"fsync", always(on(wal.Suffix, syscall.EIO, errorfs.OpFileSync, errorfs.OpFileSyncData)), true},
	{"fsync once", once(on(wal.Suffix, syscall.EIO, errorfs.OpFileSync, errorfs.OpFileSyncData)), false},
	{"close", always(on(wal.Suffix, syscall.EIO, errorfs.OpFileClose)), false},
	{"logs and tables", always(either(
		on(wal.Suffix, syscall.ENOSPC, errorfs.OpFileWrite, errorfs.OpCreate),
		on(".sst", syscall.ENOSPC, errorfs.OpFileWrite, errorfs.OpCreate))), true},
}

// Whatever fails of the log, and however often: what was promised survives a crash at
// any moment, the rest is refused or has an unknown outcome, and when the fault ends
// the store goes on by itself.
//
// Each fault runs in one mode, drawn anew in each run: a run opens eight stores. go tool task
// test:store runs each fault in every mode.
func TestLogFaults(t *testing.T) {
	randomtest.Draw(t, 4)
	drawn := rand.Perm(3)
	for i, mode := range []Fsync{FsyncAlways, FsyncEverySec, FsyncNo} {
		for j, tt := range logFaults {
			if !isLong() && drawn[j%3] != i || testing.Short() && rand.IntN(2) > 0 {
				continue
			}
			t.Run(string(mode)+"/"+tt.name, func(t *testing.T) {
				testFault(t, mode, tt.what(), tt.lasting)
			})
		}
	}
}

func testFault(t *testing.T, mode Fsync, what fault, lasting bool) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	seed := testSeed(t)
	rng := rand.New(rand.NewPCG(seed, 4))
	h := newHistory(seed, 3)
	base := memdisk.New()
	fs := newFaultyFS(base)
	s := openTest(t, faultConfig(fs, mode))
	s.set(t, "old", "value", 0)
	unsynced := 100
	if mode == FsyncAlways {
		unsynced = 0
	}
	var taken []aftermath
	take := func() {
		p := h.promised()
		taken = append(taken, aftermath{afterCrash(base, rng, unsynced), p})
	}

	stop := h.run(t, s)
	closed := false
	end := func() {
		fs.end()
		stop()
		if !closed {
			closed = true
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	defer end()
	resptest.WaitFor(t, "first writes", func() bool { return h.writers[0].acked.Load() > 2 })
	fs.inject(what)
	resptest.WaitFor(t, "the fault", func() bool {
		// Some of the faults wait for a new log or for the ticker.
		if fs.hits.Load() == 0 {
			_ = s.beginFlush()
			_ = s.wal.Sync()
		}
		return fs.hits.Load() > 0
	})
	if lasting {
		resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
	}
	crashes := 4
	if testing.Short() {
		crashes = 1
	}
	for range crashes {
		take()
		if v, err := s.read([]byte("old")); err != nil || string(v) != "value" {
			t.Errorf("read of an old value: %q, %v", v, err)
		}
		if err := s.Writable(); lasting && !errors.Is(err, ErrReadOnly) {
			t.Errorf("while the fault lasts: %v", err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	fs.end()
	take()
	resptest.WaitFor(t, "recovery", func() bool { return s.Writable() == nil })
	before := h.promised()
	resptest.WaitFor(t, "writes after recovery", func() bool {
		for i, p := range h.promised() {
			if p < before[i]+2 {
				return false
			}
		}
		return true
	})
	take()
	stop()
	take()
	promised := h.promised()
	end()

	taken = append(taken, aftermath{base, promised})
	for _, c := range taken {
		s := openTest(t, faultConfig(c.fs, mode))
		h.verify(t, s, c.promised, false)
		if v, err := s.read([]byte("old")); err != nil || string(v) != "value" {
			t.Errorf("old value: %q, %v", v, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// beginFlush has tables written of all that has been committed.
func (s *Store) beginFlush() error {
	err := s.cleaner.Clean(0, cleaner.LastSlice)
	if err == nil {
		_, err = s.db.AsyncFlush()
	}
	if errors.Is(err, ErrReadOnly) { // the fault has been met
		return nil
	}
	return err
}
