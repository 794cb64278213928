package store

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// What a store has reached lies below what it recovers from the same files, after a stop and a
// crash, and not below what it recovers from those of an earlier moment.
func TestRecoveredTellsFilesOfEarlierMoment(t *testing.T) {
	for _, mode := range []Fsync{FsyncAlways, FsyncEverySec} {
		t.Run(string(mode), func(t *testing.T) {
			fs := vfs.NewCrashableMem()
			rnd := rand.New(rand.NewPCG(1, 2))
			clone := func() *vfs.MemFS {
				return fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rnd})
			}
			write := func(s *Store, n int) {
				for i := range n {
					s.set(t, fmt.Sprint("key", i), "value", 0)
				}
			}
			recovered := func(fs vfs.FS) uint64 {
				s := openTest(t, memConfig(fs, mode))
				defer s.mustClose(t)
				return s.Recovered()
			}
			s := openTest(t, memConfig(fs, mode))
			write(s, 10)
			earlier := clone()
			write(s, 10)
			later := clone()
			reached := s.Reached()
			if reached == 0 {
				t.Fatal("nothing is reached")
			}
			if got := recovered(earlier); got > reached {
				t.Errorf("files of an earlier moment recover %d, %d was reached", got, reached)
			}
			if got := recovered(later); got <= reached {
				t.Errorf("after a crash %d is recovered, %d was reached", got, reached)
			}
			s.mustClose(t)
			if got := recovered(fs); got <= reached {
				t.Errorf("after a stop %d is recovered, %d was reached", got, reached)
			}
		})
	}
}
