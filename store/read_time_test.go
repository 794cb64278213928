package store

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

func TestReadsAreQuickUnlessTheDiskIsSlow(t *testing.T) {
	var r readTimes
	for _, step := range []struct {
		reads int
		took  time.Duration
		quick bool
	}{
		{0, 0, true}, {100, 20 * time.Microsecond, true},
		{1, time.Second, true}, // the processor was elsewhere
		{20, 5 * time.Millisecond, false},
		{200, 90 * time.Microsecond, true},
		{200, 150 * time.Microsecond, false},
	} {
		for range step.reads {
			r.note(step.took)
		}
		if r.ReadsAreQuick() != step.quick {
			t.Errorf("after %d reads of %v: quick %v, average %v", step.reads, step.took, !step.quick, time.Duration(r.average.Load()))
		}
	}
}

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
	if s.readTimes.average.Load() == 0 {
		t.Error("the time of the read is not known")
	}
	u.Abort()
}
