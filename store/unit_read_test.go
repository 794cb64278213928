package store

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Before a unit reads from disk, it says whether that is one entry.
func TestUnitTellsOfReadsFromDisk(t *testing.T) {
	cfg := memConfig(vfs.NewMem(), FsyncNo)
	cfg.Cache = 0
	s := openTest(t, cfg)
	defer s.mustClose(t)
	s.SetActive()
	s.set(t, "a", "1", 0)
	var told []bool
	u := s.NewUnit()
	u.BeforeDisk = func(brief bool) { told = append(told, brief) }
	u.Begin(s.now(), nil)
	if v, err := u.Get([]byte("a")); err != nil || !v.Exists() {
		t.Fatal(err)
	}
	if len(told) != 1 || !told[0] {
		t.Errorf("a key that the cache does not have: %v, want one brief read", told)
	}
	if s.readTime.Of() == 0 {
		t.Error("the time of the read is not known")
	}
	u.Abort()
}
