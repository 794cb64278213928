package memdisk

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An FS is Pebble's crashable file system in memory. That one takes its own lock for
// reading twice when a file is used again, and so stops for ever if somebody wants a
// clone in between; here the two exclude each other.
type FS struct {
	*vfs.MemFS
	reuse sync.Mutex
}

// New returns an empty disk.
func New() *FS { return &FS{MemFS: vfs.NewCrashableMem()} }

// CrashClone returns the disk as it would be found if the power went now; see
// [vfs.MemFS.CrashClone].
func (fs *FS) CrashClone(cfg vfs.CrashCloneCfg) *FS {
	fs.reuse.Lock()
	defer fs.reuse.Unlock()
	return &FS{MemFS: fs.MemFS.CrashClone(cfg)}
}

// ReuseForWrite implements vfs.FS.
func (fs *FS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	fs.reuse.Lock()
	defer fs.reuse.Unlock()
	return fs.MemFS.ReuseForWrite(oldname, newname, category)
}
