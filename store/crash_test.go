package store

import (
	"errors"
	"testing"

	"github.com/ringside-kv/ringside/store/memdisk"
)

// After Crash a store's directory has what was acknowledged before, and nothing else, however
// orderly it is closed.
func TestCrashKeepsAcknowledgedWrites(t *testing.T) {
	for _, mode := range []Fsync{FsyncAlways, FsyncEverySec, FsyncNo} {
		t.Run(string(mode), func(t *testing.T) {
			fs := memdisk.New()
			s := openTest(t, crashConfig(fs, mode))
			s.set(t, "before", "1", 0)
			u := s.NewUnit()
			begun := []byte("begun")
			u.Begin(s.now(), []Place{u.Place(begun)})
			v, err := u.Get(begun)
			if err != nil {
				t.Fatal(err)
			}
			if err := u.PutString(begun, v, []byte("2"), 0, false); err != nil {
				t.Fatal(err)
			}
			s.Crash()
			var done Signal
			wait, err := u.Commit(&done)
			if err == nil && wait {
				err = done.Wait()
			}
			if err == nil {
				t.Error("a unit was committed after the crash")
			}
			if err := s.Writable(); !errors.Is(err, ErrCrashed) || !errors.Is(err, ErrReadOnly) {
				t.Errorf("writes are refused with %v", err)
			}
			if err := s.recoverLog(); err == nil {
				t.Error("it has recovered")
			}
			_ = s.Close()
			s = openTest(t, crashConfig(fs, mode))
			if v, _ := s.get(t, "before"); v != "1" {
				t.Errorf("what was acknowledged: %q", v)
			}
			if v, ok := s.get(t, "begun"); ok {
				t.Errorf("what was not: %q", v)
			}
			if n := s.Keys(); n != 1 {
				t.Errorf("%d keys are counted", n)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
