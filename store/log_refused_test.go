package store

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A commit that the log refuses changes nothing: what was acknowledged before stays, also where only the cache has
// it as a dirty line, and the new value would have gone to Pebble.
func TestRefusedCommitKeepsDirtyLine(t *testing.T) {
	base := memdisk.New()
	fs := newFaultyFS(base)
	cfg := faultConfig(fs, FsyncEverySec)
	cfg.healthPeriod = time.Hour // the log stays as it is
	s := openTest(t, cfg)
	s.set(t, "key", "first", 0)
	if err := s.cleaner.Clean(0, 1<<16-1); err != nil {
		t.Fatal(err)
	}
	s.set(t, "key", "second", 0)
	fs.inject(on(wal.Suffix, syscall.EIO, errorfs.OpFileSync, errorfs.OpFileSyncData))
	if err := s.wal.Sync(); err == nil {
		t.Fatal("the log has not failed")
	}
	s.health.refusals.Set(refusal.Log, nil) // as for a commit that was accepted just before
	err := s.put("key", strings.Repeat("x", 20_000))
	if !errors.Is(err, ErrReadOnly) || !strings.Contains(err.Error(), "commit:") {
		t.Fatalf("a commit after the log has failed: %v", err)
	}
	if v, _ := s.get(t, "key"); v != "second" {
		t.Errorf("after a refused commit the key has %.10q", v)
	}
	if err := s.cleaner.Clean(0, 1<<16-1); err != nil {
		t.Error(err)
	}
	if v, err := s.read([]byte("key")); err != nil || string(v) != "second" {
		t.Errorf("once it is clean the key has %.10q: %v", v, err)
	}
	_ = s.Close()
}
