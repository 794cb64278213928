package memdisk

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	blockSize  = 4096
	sectorSize = 512
)

// A node is what is known of a file: which of its bytes may not be synced.
type node struct {
	mu       sync.Mutex
	unsynced []span
}

// A span is the bytes from one to another of a file, the last not included.
type span struct{ from, to int }

// written notes that bytes are about to be written.
func (n *node) written(from, to int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if last := len(n.unsynced) - 1; last >= 0 && n.unsynced[last].to == from {
		n.unsynced[last].to = to
		return
	}
	n.unsynced = append(n.unsynced, span{from, to})
}

// synced notes that the file was synced if err is nil, and returns err.
func (n *node) synced(err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err == nil {
		n.unsynced = n.unsynced[:0]
	}
	return err
}

// damage damages some of the blocks of a file that were not synced, where found has them.
func (n *node) damage(rng *rand.Rand, found, synced *vfs.MemFS, path string) {
	if len(n.unsynced) == 0 {
		return
	}
	is, was := content(found, path), content(synced, path)
	damaged := false
	for _, s := range n.unsynced {
		for at := s.from; at < s.to && at < len(is); at = (at/blockSize + 1) * blockSize {
			old := make([]byte, min((at/blockSize+1)*blockSize, s.to, len(is))-at)
			copy(old, was[min(at, len(was)):])
			damaged = damageBlock(rng, is[at:at+len(old)], old, at) || damaged
		}
	}
	if damaged {
		f, err := found.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
		must(err)
		_, err = f.WriteAt(is, 0)
		must(errors.Join(err, f.Sync(), f.Close()))
	}
}

// damageBlock damages a block, or not: the part of one that was written, at an offset in the file, in place of
// old.
func damageBlock(rng *rand.Rand, block, old []byte, at int) (damaged bool) {
	if bytes.Equal(block, old) {
		return false // it is not there
	}
	switch rng.IntN(6) {
	case 0: // it ends at a sector
		end := at/blockSize*blockSize + sectorSize*rng.IntN(blockSize/sectorSize) - at
		end = max(0, min(end, len(block)))
		copy(block[end:], old[end:])
	case 1:
		block[rng.IntN(len(block))] ^= 1 << rng.IntN(8)
	default:
		return false
	}
	return true
}

// content returns what is in a file; nil if there is none.
func content(fs *vfs.MemFS, path string) []byte {
	f, err := fs.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	must(err)
	b, err := io.ReadAll(f)
	must(errors.Join(err, f.Close()))
	return b
}

// must is for what cannot fail in memory.
func must(err error) {
	if err != nil {
		panic(fmt.Sprintf("memdisk: %v", err))
	}
}
