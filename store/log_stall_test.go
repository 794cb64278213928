package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// The log fails while a commit waits for room in the memtables. It recovers all the same, since no table is
// complete, and no memtable is free, before it has.
func TestLogRecoversWhileCommitsWaitForMemtables(t *testing.T) {
	fs := newFaultyFS(memdisk.New())
	s := openTest(t, faultConfig(fs, FsyncEverySec))
	tables := make(chan struct{})
	release := sync.OnceFunc(func() { close(tables) })
	defer release()
	var logFails atomic.Bool
	changes := []errorfs.OpKind{errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData}
	fs.inject(func(op errorfs.Op) error {
		switch {
		case strings.HasSuffix(op.Path, ".sst"):
			<-tables
		case logFails.Load() && strings.HasSuffix(op.Path, wal.Suffix) && slices.Contains(changes, op.Kind):
			return syscall.EIO
		}
		return nil
	})
	value := strings.Repeat("x", 200_000)
	written := 0
	var ends atomic.Bool
	var writer sync.WaitGroup
	writer.Go(func() {
		for !ends.Load() && s.put(fmt.Sprint("key", written), value) == nil {
			written++
		}
	})
	resptest.WaitFor(t, "a commit to wait for memtables", func() bool { return s.health.stalls.Load() > 0 })
	ends.Store(true)
	logFails.Store(true)
	b := s.db.NewBatch() // something for the log, which may have all else
	_ = b.LogData([]byte("x"), nil)
	if _, err := s.wal.Append(b.Repr(), nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(b.Close(), s.Sync()); err == nil {
		t.Error("a log that fails is synced")
	}
	release()
	resptest.WaitFor(t, "tables to wait for the log", func() bool { return s.health.isRefusedFor(refusal.Tables) })
	logFails.Store(false)
	resptest.WaitFor(t, "writes to be accepted", func() bool { return s.Writable() == nil })
	writer.Wait()
	if err := s.put("last", value); err != nil {
		t.Error(err)
	}
	for i := range written {
		if v, err := s.read([]byte(fmt.Sprint("key", i))); err != nil || len(v) != len(value) {
			t.Errorf("key %d has %d bytes: %v", i, len(v), err)
		}
	}
	s.mustClose(t)
}
