package store

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// toReplay is how many bytes the next start of a store would apply again.
func toReplay(t *testing.T, fs vfs.FS) (n int64) {
	t.Helper()
	names, err := fs.List("/data/store/log")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, wal.Suffix) {
			continue
		}
		info, err := fs.Stat("/data/store/log/" + name)
		if err != nil {
			t.Fatal(err)
		}
		n += info.Size()
	}
	return n
}

// fill writes keys, of which the cache has most as dirty lines alone, and removes some.
func fill(t *testing.T, s *Store, keys int) {
	t.Helper()
	for i := range keys {
		s.set(t, fmt.Sprintf("key-%d", i), strings.Repeat("v", 300), 0)
	}
	for i := 0; i < keys; i += 10 {
		key := fmt.Sprintf("key-%d", i)
		s.inUnit(t, func(u *Unit) {
			v, err := u.Head([]byte(key))
			if err != nil {
				t.Fatal(err)
			}
			u.Delete([]byte(key), v)
		}, key)
	}
}

// checkRefound checks that a store has what fill has left, and the right counts.
func checkRefound(t *testing.T, s *Store, keys int) {
	t.Helper()
	for i := range keys {
		v, ok := s.get(t, fmt.Sprintf("key-%d", i))
		if want := i%10 != 0; ok != want || ok && len(v) != 300 {
			t.Fatalf("key %d: there %v, %d bytes", i, ok, len(v))
		}
	}
	if n, want := s.Keys(), int64(keys-(keys+9)/10); n != want {
		t.Errorf("%d keys are counted, want %d", n, want)
	}
	s.audit(t)
}

// After an orderly stop a start finds a log with the counts alone, in each fsync mode.
func TestCloseEmptiesLog(t *testing.T) {
	const keys = 1000
	for _, mode := range []Fsync{FsyncAlways, FsyncEverySec, FsyncNo} {
		t.Run(string(mode), func(t *testing.T) {
			fs := memdisk.New()
			cfg := memConfig(fs, mode)
			s := openTest(t, cfg)
			fill(t, s, keys)
			if s.cache.DirtyBytes() == 0 {
				t.Error("no line is dirty")
			}
			s.mustClose(t)
			n := toReplay(t, fs)
			if n > 64<<10 {
				t.Errorf("the log has %d bytes after an orderly stop", n)
			}
			s = openTest(t, cfg)
			checkRefound(t, s, keys)
			s.mustClose(t)
			if again := toReplay(t, fs); again > 2*n+64 {
				t.Errorf("the log has %d bytes after a start and a stop, and had %d before", again, n)
			}
		})
	}
}

// Close writes no more than it may: a large log stays for the next start.
func TestCloseLeavesLogWhenMuchIsInMemory(t *testing.T) {
	const keys = 1000
	fs := memdisk.New()
	cfg := memConfig(fs, FsyncEverySec)
	cfg.closing.most = 64 << 10
	s := openTest(t, cfg)
	fill(t, s, keys)
	s.mustClose(t)
	if n := toReplay(t, fs); n < keys*300 {
		t.Errorf("the log has %d bytes", n)
	}
	s = openTest(t, cfg)
	checkRefound(t, s, keys)
	s.mustClose(t)
}

// Close ends, and the log stays, where tables cannot be written.
func TestCloseEndsWhenTablesCannotBeWritten(t *testing.T) {
	const keys = 1000
	fs := memdisk.New()
	failed := errors.New("disk is broken")
	var tries atomic.Int32
	var s *Store
	cfg := memConfig(&hookFS{fs, func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			select {
			case <-s.written: // Pebble tries until it is closed, a moment later
			default:
				tries.Add(1)
			}
			return failed
		}
		return nil
	}}, FsyncEverySec)
	cfg.closing.time, cfg.healthPeriod = time.Hour, 10*time.Millisecond
	s = openTest(t, cfg)
	fill(t, s, keys)
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if n := tries.Load(); n == 0 || n > 20 {
		t.Errorf("tables were tried %d times", n)
	}
	s = openTest(t, memConfig(fs, FsyncEverySec))
	checkRefound(t, s, keys)
	s.mustClose(t)
}
