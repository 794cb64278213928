package memdisk

import (
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Clones taken while files are used again do not stop either of them.
func TestClonesWhileFilesAreUsedAgain(t *testing.T) {
	fs := New()
	f, err := fs.Create("a", vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_ = f.Close()
	var wg sync.WaitGroup
	const rounds = 20_000
	wg.Go(func() {
		from, to := "a", "b"
		for range rounds {
			f, err := fs.ReuseForWrite(from, to, vfs.WriteCategoryUnspecified)
			if err != nil {
				t.Error(err)
				return
			}
			_ = f.Close()
			from, to = to, from
		}
	})
	wg.Go(func() {
		for range rounds {
			fs.CrashClone(vfs.CrashCloneCfg{})
		}
	})
	wg.Wait()
}
