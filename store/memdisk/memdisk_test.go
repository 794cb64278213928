package memdisk

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/files"
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

// Whatever the loss of power leaves, bytes that were synced are as they were written. Those that were not are
// there, gone, torn or flipped.
func TestLossOfPowerDamagesUnsyncedBytesOnly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	kinds := make(map[string]int)
	for range 2000 {
		fs := New()
		create(t, fs, "/f")
		err := fs.Rename("/f", "/g")
		if err == nil {
			err = files.SyncDir(fs, "/")
		}
		if err != nil {
			t.Fatal(err)
		}
		f, err := fs.OpenReadWrite("/g", vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		size, synced := 1+rng.IntN(3*blockSize), 0
		want := bytes.Repeat([]byte{0xAA}, size)
		for at := 0; at < size; {
			n := min(1+rng.IntN(blockSize), size-at)
			if _, err := f.Write(want[at : at+n]); err != nil {
				t.Fatal(err)
			}
			if at += n; rng.IntN(2) == 0 {
				synced = at
				if err := f.SyncData(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if synced == 0 {
			continue
		}
		left := content(fs.LosePower(rng, 50).MemFS, "/g")
		if len(left) < synced || !bytes.Equal(left[:synced], want[:synced]) {
			t.Fatalf("%d of %d bytes were synced: they are damaged", synced, size)
		}
		for at := synced; at < size; at++ {
			switch {
			case at >= len(left):
				kinds["short"]++
			case left[at] == 0xAA:
				kinds["there"]++
			case left[at] == 0:
				kinds["gone"]++
			default:
				kinds["flipped"]++
			}
			if at < len(left) && at > synced && at%blockSize != 0 && at%sectorSize == 0 && left[at] == 0 && left[at-1] == 0xAA {
				kinds["torn"]++
			}
		}
	}
	for _, kind := range []string{"short", "there", "gone", "flipped", "torn"} {
		if kinds[kind] == 0 {
			t.Errorf("no byte was %s: %v", kind, kinds)
		}
	}
}

// create makes an empty file.
func create(t *testing.T, fs *FS, path string) {
	t.Helper()
	f, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err == nil {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}
