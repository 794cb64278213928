package store

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// A key that has just expired, and cannot be removed, is not said to be gone: a node whose
// clock is behind would show it again after a failover.
func TestExpiredKeyThatCannotBeRemovedIsNotReportedMissing(t *testing.T) {
	cfg := testConfig("/data/store")
	cfg.FS = &smallDisk{FS: vfs.NewMem(), dir: cfg.Dir, size: 1 << 30}
	s := openTest(t, cfg)
	expiry := s.now() + int64(time.Hour/time.Millisecond)
	s.set(t, "a", "1", expiry)
	s.set(t, "b", "1", 0)
	s.SetMinFreeDisk(4 << 30) // no removal is accepted, either
	there := func(key string, now int64) (bool, error) {
		u := s.NewUnit()
		defer u.Abort()
		u.Begin(now, nil)
		v, err := u.Get([]byte(key))
		return v.Exists(), err
	}
	for now, want := range map[int64]error{expiry: ErrReadOnly, expiry + clockTolerance - 1: ErrReadOnly, expiry + clockTolerance: nil} {
		if is, err := there("a", now); !errors.Is(err, want) || is {
			t.Errorf("%d ms after the expiry: there %v, %v", now-expiry, is, err)
		}
		if is, err := there("b", now); err != nil || !is {
			t.Errorf("another key: there %v, %v", is, err)
		}
	}
	if is, err := there("a", expiry-1); err != nil || !is {
		t.Errorf("before the expiry: there %v, %v", is, err)
	}
	s.SetMinFreeDisk(0)
	if is, err := there("a", expiry); err != nil || is {
		t.Errorf("when it can be removed: there %v, %v", is, err)
	}
	if is, err := there("a", expiry-1); err != nil || is {
		t.Errorf("after it was removed: there %v, %v", is, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
