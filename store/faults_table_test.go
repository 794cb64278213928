package store

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"go.uber.org/goleak"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/tuning"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// While tables cannot be written, writes are refused, reads go on, and Pebble's
// attempts do not keep a CPU busy.
func TestTableFaults(t *testing.T) {
	for name, what := range map[string]fault{
		"create": on(".sst", syscall.ENOSPC, errorfs.OpCreate),
		"write":  on(".sst", syscall.ENOSPC, errorfs.OpFileWrite),
		"sync":   on(".sst", syscall.EIO, errorfs.OpFileSync, errorfs.OpFileSyncData),
	} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			h := newHistory(testSeed(t), 2)
			base := memdisk.New()
			fs := newFaultyFS(base)
			s := openTest(t, faultConfig(fs, FsyncEverySec))
			stop := h.run(t, s)
			resptest.WaitFor(t, "first writes", func() bool { return h.writers[0].acked.Load() > 2 })
			fs.inject(what)
			if err := s.beginFlush(); err != nil {
				t.Fatal(err)
			}
			resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
			stop()
			few(t, "attempts", fs.hits.Load)
			for _, w := range h.writers {
				if _, err := w.verify(s, int(w.acked.Load())); err != nil {
					t.Error(err)
				}
			}
			if err := s.Writable(); !errors.Is(err, ErrReadOnly) {
				t.Errorf("while the fault lasts: %v", err)
			}
			fs.end()
			resptest.WaitFor(t, "recovery", func() bool { return s.Writable() == nil })
			s.set(t, "after", "x", 0)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = openTest(t, faultConfig(base, FsyncEverySec))
			h.verify(t, s, h.promised(), false)
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// A store can be closed while its tables cannot be written; nothing is lost.
func TestCloseDuringTableFault(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	base := memdisk.New()
	fs := newFaultyFS(base)
	s := openTest(t, faultConfig(fs, FsyncEverySec))
	s.set(t, "a", "1", 0)
	fs.inject(on(".sst", syscall.ENOSPC, errorfs.OpCreate))
	if err := s.beginFlush(); err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openTest(t, faultConfig(base, FsyncEverySec))
	if v, _ := s.get(t, "a"); v != "1" {
		t.Errorf("a = %q", v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// To Pebble a failure to write its manifest is final: the store says so, refuses
// writes, answers reads, ends, and has lost nothing.
func TestManifestFault(t *testing.T) {
	base := memdisk.New()
	fs := newFaultyFS(base)
	s := openTest(t, faultConfig(fs, FsyncAlways))
	s.set(t, "a", "1", 0)
	s.set(t, "long", strings.Repeat("x", 200_000), 0)
	fs.inject(on("MANIFEST", syscall.ENOSPC, errorfs.OpFileWrite, errorfs.OpFileSync))
	if err := s.cleaner.Clean(0, cleaner.LastSlice); err != nil {
		t.Fatal(err)
	}
	s.set(t, "dirty", "1", 0)
	if _, err := s.db.AsyncFlush(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-s.Fatal():
	case <-time.After(resptest.Patience):
		t.Fatal("Fatal is not closed")
	}
	if err := s.Writable(); !errors.Is(err, ErrReadOnly) {
		t.Errorf("Writable: %v", err)
	}
	for range 3 {
		if v, err := s.read([]byte("a")); err != nil || string(v) != "1" {
			t.Errorf("read: %q, %v", v, err)
		}
		if v, err := s.read([]byte("long")); err != nil || len(v) != 200_000 {
			t.Errorf("read of a long value: %d bytes, %v", len(v), err)
		}
		// What Pebble does not have cannot be scanned, and is not left out.
		if _, err := s.Scan(0, 10, func(Entry) bool { return true }); !errors.Is(err, ErrReadOnly) {
			t.Errorf("scan: %v", err)
		}
		if s.Stats().Pebble == nil {
			t.Error("no figures")
		}
	}
	if err := s.Close(); err == nil {
		t.Error("Close reports success")
	}
	after := base.CrashClone(vfs.CrashCloneCfg{})
	s = openTest(t, faultConfig(after, FsyncAlways))
	if v, _ := s.get(t, "a"); v != "1" {
		t.Errorf("a = %q", v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// Opening on a disk that fails ends with an error, or in a store that answers reads and recovers.
func TestOpenFaults(t *testing.T) {
	base := memdisk.New()
	s := openTest(t, faultConfig(base, FsyncAlways))
	s.set(t, "a", "1", 0)
	crashed := func() vfs.FS { return base.CrashClone(vfs.CrashCloneCfg{}) }
	for _, tt := range []struct {
		name string
		what fault
	}{
		{"tables", on(".sst", syscall.ENOSPC, errorfs.OpCreate)},
		{"manifest", on("MANIFEST", syscall.ENOSPC, errorfs.OpFileWrite)},
		{"new log", on(wal.Suffix, syscall.ENOSPC, errorfs.OpCreate)},
		{"log cannot be read", on(wal.Suffix, syscall.EIO, errorfs.OpOpen)},
		{"options", on(".dbtmp", syscall.ENOSPC, errorfs.OpFileWrite)},
		{"marks cannot be read", on(wal.MarksName, syscall.EIO, errorfs.OpOpen)},
	} {
		fs := newFaultyFS(crashed())
		fs.inject(tt.what)
		got, err := Open(faultConfig(fs, FsyncAlways))
		if err == nil {
			if v, err := got.read([]byte("a")); err != nil || string(v) != "1" {
				t.Errorf("%s: read: %q, %v", tt.name, v, err)
			}
			fs.end()
			resptest.WaitFor(t, "recovery", func() bool { return got.Writable() == nil })
			if err := got.Close(); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if errors.Is(err, ErrDamaged) || errors.Is(err, ErrInUse) {
			t.Errorf("%s: a wrong reason: %v", tt.name, err)
		}
		resptest.WaitFor(t, tt.name+": Pebble to stop", func() bool { return !pebbleRuns() })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// pebbleRuns reports whether any database still tries to write tables.
func pebbleRuns() bool {
	all := make([]byte, 1<<20)
	for len(all) == cap(all) {
		all = make([]byte, 2*cap(all))
		all = all[:runtime.Stack(all, true)]
	}
	for g := range strings.SplitSeq(string(all), "\n\n") {
		if strings.Contains(g, "pebble/v2.(*DB).flush(") && !strings.Contains(g, "[select (no cases)") {
			return true
		}
	}
	return false
}

func TestFreeSpaceGuard(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	fs := vfs.NewMem()
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30})
	cfg := faultConfig(fs, FsyncEverySec)
	cfg.MinFreeDisk = 100 << 20
	s := openTest(t, cfg)
	s.set(t, "a", "1", 0)
	for range 2 {
		fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 99 << 20})
		resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
		if err := s.Writable(); !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "disk almost full") {
			t.Error(err)
		}
		u := s.NewUnit()
		u.Begin(s.now(), []Place{u.Place([]byte("a"))})
		v, err := u.Get([]byte("a"))
		if err != nil || string(v.Inline) != "1" {
			t.Errorf("read: %q, %v", v.Inline, err)
		}
		if err := u.PutString([]byte("a"), v, []byte("2"), 0, false); err != nil {
			t.Error(err)
		}
		if _, err := u.Commit(nil); !errors.Is(err, ErrReadOnly) {
			t.Errorf("commit: %v", err)
		}
		fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 101 << 20})
		resptest.WaitFor(t, "writes to be accepted", func() bool { return s.Writable() == nil })
		if v, _ := s.get(t, "a"); v != "1" {
			t.Errorf("the refused write is there: %q", v)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A unit that was flushed before the trouble began cannot claim that nothing was
// changed.
func TestTroubleInTheMiddleOfAUnit(t *testing.T) {
	fs := vfs.NewMem()
	fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 1 << 30})
	cfg := faultConfig(fs, FsyncEverySec)
	cfg.MinFreeDisk = 100 << 20
	s := openTest(t, cfg)
	u := s.NewUnit()
	u.Begin(s.now(), []Place{u.Place([]byte("a"))})
	for i, last := range []bool{false, true} {
		v, err := u.Get([]byte("a"))
		if err != nil {
			t.Fatal(err)
		}
		if err := u.PutString([]byte("a"), v, fmt.Append(nil, i), 0, false); err != nil {
			t.Fatal(err)
		}
		if last {
			break
		}
		if err := u.Flush(); err != nil {
			t.Fatal(err)
		}
		fs.TestingSetDiskUsage(vfs.DiskUsage{AvailBytes: 99 << 20})
		resptest.WaitFor(t, "writes to be refused", func() bool { return s.Writable() != nil })
	}
	if _, err := u.Commit(nil); !errors.Is(err, ErrUnknown) {
		t.Errorf("commit: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// A disk that is found to be full when all memtables are refuses the commits that wait, and answers all reads: of
// collections whose entries were written last, and of ranges.
func TestReadsWhileMemtablesAreFull(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	fs := newFaultyFS(memdisk.New())
	s := openTest(t, faultConfig(fs, FsyncEverySec))
	tables := make(chan struct{})
	release := sync.OnceFunc(func() { close(tables) })
	defer release()
	fs.inject(func(op errorfs.Op) error {
		if strings.HasSuffix(op.Path, ".sst") && op.Kind == errorfs.OpCreate {
			<-tables
			return syscall.ENOSPC
		}
		return nil
	})
	elements := map[string]string{}
	for i := range 40 {
		elements[fmt.Sprintf("sub%02d", i)] = strings.Repeat("x", 1000)
	}
	written := 0
	refused := make(chan error)
	go func() {
		for {
			u := s.NewUnit()
			key := fmt.Sprint("key", written)
			u.Begin(s.now(), []Place{u.Place([]byte(key))})
			splitSet(t, u, key, elements)
			if _, err := u.Commit(nil); err != nil {
				refused <- err
				return
			}
			written++
		}
	}()
	resptest.WaitFor(t, "a commit to wait for memtables", func() bool { return s.health.stalls.Load() > 0 })
	release()
	if err := <-refused; !errors.Is(err, ErrReadOnly) || errors.Is(err, ErrUnknown) {
		t.Errorf("a commit that has waited: %v", err)
	}
	for n := range written {
		key := []byte(fmt.Sprint("key", n))
		u := s.NewUnit()
		u.Begin(s.now(), nil)
		v, err := u.Get(key)
		if err != nil {
			t.Fatal(err)
		}
		it, found := u.Elements(key, &v, nil, nil, false), 0
		for it.Next() {
			found++
		}
		if err := it.Close(); err != nil || found != len(elements) {
			t.Errorf("%s has %d elements: %v", key, found, err)
		}
		u.Abort()
	}
	keys := 0
	for at := Cursor(0); ; {
		next, err := s.Scan(at, 100, func(Entry) bool { keys++; return true })
		if err != nil {
			t.Fatal(err)
		}
		if at = next; at == 0 {
			break
		}
	}
	if keys != written {
		t.Errorf("a scan finds %d keys of %d", keys, written)
	}
	fs.end()
	resptest.WaitFor(t, "recovery", func() bool { return s.Writable() == nil })
	s.set(t, "after", "x", 0)
	s.mustClose(t)
}

// While a table of level 0 cannot be read, and nothing is merged, level 0 does not grow beyond its bound, whatever
// recovery is tried.
func TestLevel0IsBoundedWhileTableCannotBeRead(t *testing.T) {
	fs := newFaultyFS(memdisk.New())
	s := openTest(t, faultConfig(fs, FsyncEverySec))
	for i := range 200 {
		s.set(t, fmt.Sprint("key", i), strings.Repeat("x", 500), 0)
	}
	if err := s.flushTables(); err != nil {
		t.Fatal(err)
	}
	levels, err := s.db.SSTables()
	if err != nil || len(levels[0]) == 0 {
		t.Fatalf("%d tables in level 0: %v", len(levels[0]), err)
	}
	bad := levels[0][0].BackingSSTNum.String() + ".sst"
	fs.inject(on(bad, syscall.EIO, errorfs.OpFileRead, errorfs.OpFileReadAt, errorfs.OpOpen))
	for n := 0; !s.gate.Level0IsFull(); n++ {
		if err := s.put(fmt.Sprint("key", n%200), strings.Repeat("y", 5000)); err != nil && !errors.Is(err, ErrReadOnly) {
			t.Fatal(err)
		}
		signal(s.logKeeper.full)
	}
	for range 100 {
		signal(s.logKeeper.full)
		resptest.WaitFor(t, "the log's keeper", func() bool { return len(s.logKeeper.full) == 0 })
	}
	if n := s.health.engineMetrics(s.db.DB).Levels[0].Sublevels; n > tuning.MostSublevels+4 {
		t.Errorf("level 0 has %d sublevels", n)
	}
	fs.end()
	resptest.WaitFor(t, "recovery", func() bool { return s.put("after", "x") == nil })
	s.mustClose(t)
}
