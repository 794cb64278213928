package store

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A commit that was accepted just before Pebble stopped is seen as a whole.
func TestCommitIsWholeWhenPebbleStops(t *testing.T) {
	cfg := faultConfig(memdisk.New(), FsyncEverySec)
	cfg.mostDirty = 1 << 30
	s := openTest(t, cfg)
	s.inUnit(t, func(u *Unit) { splitSet(t, u, "set", map[string]string{"f": "old"}) }, "set")
	s.set(t, "string", "old", 0)
	for i := range 4000 { // until no shard of the cache takes dirty lines
		s.set(t, fmt.Sprint("fill", i), strings.Repeat("x", 500), 0)
	}
	s.health.noteFatal(errors.New("stopped"))
	s.health.refusals.Set(refusal.Fatal, nil) // as for a commit that was accepted before
	u := s.NewUnit()
	u.Begin(s.now(), []Place{u.Place([]byte("set")), u.Place([]byte("string"))})
	splitSet(t, u, "set", map[string]string{"f": "new"})
	v, err := u.Get([]byte("string"))
	if err == nil {
		err = u.PutString([]byte("string"), v, []byte("new"), 0, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Commit(nil); err != nil {
		t.Fatal(err)
	}
	r := s.NewUnit()
	r.Begin(s.now(), nil)
	v, err = r.Get([]byte("set"))
	if err != nil {
		t.Fatal(err)
	}
	if f, ok, err := r.Element([]byte("set"), &v, []byte("f")); err != nil || !ok || string(f) != "new" {
		t.Errorf("the field is %q, %v: %v", f, ok, err)
	}
	if v, err := r.Get([]byte("string")); err != nil || string(v.Inline) != "new" {
		t.Errorf("the string is %q: %v", v.Inline, err)
	}
	r.Abort()
	_ = s.Close() // reports that Pebble has stopped, unless it is done first
}

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
