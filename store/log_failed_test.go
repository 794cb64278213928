package store

import (
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store/internal/wal"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A log that fails may take back what was acknowledged. If the process is killed before the
// log is healed, the next start knows.
func TestKilledStoreKnowsThatItsLogHadFailed(t *testing.T) {
	tables := on(".sst", syscall.ENOSPC, errorfs.OpCreate) // keep the log from being healed
	for name, what := range map[string]fault{
		"fsync":          on(wal.Suffix, syscall.EIO, errorfs.OpFileSync, errorfs.OpFileSyncData),
		"write":          on(wal.Suffix, syscall.EIO, errorfs.OpFileWrite),
		"directory sync": on("/log", syscall.EIO, errorfs.OpFileSync),
		"create":         on(wal.Suffix, syscall.ENOSPC, errorfs.OpCreate),
	} {
		t.Run(name, func(t *testing.T) {
			base := memdisk.New()
			fs := newFaultyFS(base)
			s := openTest(t, faultConfig(fs, FsyncEverySec))
			killed := func() *memdisk.FS {
				return base.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 1))})
			}
			// found opens what a killed process has left, and tells what it knows of the log.
			found := func(fs vfs.FS, forget bool) bool {
				t.Helper()
				s := openTest(t, faultConfig(fs, FsyncEverySec))
				failed := s.LogFailed()
				if forget {
					if err := s.ForgetLogFailure(); err != nil {
						t.Error(err)
					}
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
				return failed
			}
			s.set(t, "a", "1", 0)
			if found(killed(), false) {
				t.Error("a log that has not failed counts as failed")
			}
			fs.inject(either(what, tables))
			resptest.WaitFor(t, "the failure of the log", func() bool {
				u := s.NewUnit()
				u.Begin(s.now(), []Place{u.Place([]byte("a"))})
				v, err := u.Get([]byte("a"))
				if err == nil {
					err = u.PutString([]byte("a"), v, []byte("2"), 0, false)
				}
				if err == nil {
					_, _ = u.Commit(nil) // fails with the log
				} else {
					u.Abort()
				}
				_ = s.beginFlush()
				_ = s.wal.Sync()
				return s.wal.Failed() != nil
			})
			after := killed()
			for range 2 {
				if !found(after, false) {
					t.Error("the failure of the log is not known after a kill")
				}
			}
			if !found(after, true) || found(after, false) {
				t.Error("the failure of the log is not known until it is forgotten")
			}
			fs.end()
			resptest.WaitFor(t, "recovery", func() bool { return s.Writable() == nil })
			if found(killed(), false) {
				t.Error("a log that was healed counts as failed")
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			if found(base, false) {
				t.Error("a log that was closed counts as failed")
			}
		})
	}
}

// A unit that begins a value is refused, since nothing of it was executed, when the log fails at its generation.
func TestUnitIsRefusedWhenTheLogFailsAtItsGeneration(t *testing.T) {
	fs := newFaultyFS(vfs.NewMem())
	s := openTest(t, faultConfig(fs, FsyncAlways))
	fs.inject(on(wal.Suffix, syscall.EIO, errorfs.OpFileWrite))
	_, err := s.newGeneration()
	if !errors.Is(err, ErrReadOnly) || !errors.Is(err, syscall.EIO) {
		t.Errorf("error %v, want one that wraps ErrReadOnly and EIO", err)
	}
	fs.end()
	resptest.WaitFor(t, "recovery", func() bool { return s.Writable() == nil })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
