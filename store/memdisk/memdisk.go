package memdisk

import (
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An FS is Pebble's crashable file system in memory, which can lose its power in more ways: see [FS.LosePower].
//
// Invariant: whatever changes the file system, or makes a change durable, holds changes for reading. So two
// clones are of the same moment while it is held for writing. Besides, Pebble's file system takes its own lock
// twice when a file is used again, and would stop for ever if somebody wanted a clone in between.
type FS struct {
	*vfs.MemFS
	changes sync.RWMutex
	mu      sync.Mutex
	nodes   map[string]*node // by path; files without one are synced
}

// New returns an empty disk.
func New() *FS { return wrap(vfs.NewCrashableMem()) }

func wrap(fs *vfs.MemFS) *FS { return &FS{MemFS: fs, nodes: make(map[string]*node)} }

// CrashClone returns the disk as it would be found if the power went now; see
// [vfs.MemFS.CrashClone].
func (fs *FS) CrashClone(cfg vfs.CrashCloneCfg) *FS {
	fs.changes.Lock()
	defer fs.changes.Unlock()
	return wrap(fs.MemFS.CrashClone(cfg))
}

// LosePower returns the disk as it might be found if the power went now. Of what was not synced, so many percent
// of the blocks of 4 KiB, and of the names, are there. Of these blocks some end in the middle, at a sector, and
// some have a flipped bit.
func (fs *FS) LosePower(rng *rand.Rand, percent int) *FS {
	fs.changes.Lock()
	defer fs.changes.Unlock()
	synced := fs.MemFS.CrashClone(vfs.CrashCloneCfg{})
	found := fs.MemFS.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng})
	for path, n := range fs.nodes {
		n.damage(rng, found, synced, path)
	}
	return wrap(found)
}

// Create implements vfs.FS.
func (fs *FS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	fs.changes.RLock()
	defer fs.changes.RUnlock()
	f, err := fs.MemFS.Create(name, category)
	return fs.file(f, err, name, &node{})
}

// OpenReadWrite implements vfs.FS.
func (fs *FS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	fs.changes.RLock()
	defer fs.changes.RUnlock()
	f, err := fs.MemFS.OpenReadWrite(name, category, opts...)
	return fs.file(f, err, name, fs.node(name))
}

// OpenDir implements vfs.FS.
func (fs *FS) OpenDir(name string) (vfs.File, error) {
	f, err := fs.MemFS.OpenDir(name)
	return fs.file(f, err, "", &node{})
}

// ReuseForWrite implements vfs.FS.
func (fs *FS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	fs.changes.RLock()
	defer fs.changes.RUnlock()
	f, err := fs.MemFS.ReuseForWrite(oldname, newname, category)
	fs.set(oldname, nil)
	return fs.file(f, err, newname, &node{})
}

// Link implements vfs.FS.
func (fs *FS) Link(oldname, newname string) error {
	fs.changes.RLock()
	defer fs.changes.RUnlock()
	return fs.MemFS.Link(oldname, newname)
}

// Remove implements vfs.FS.
func (fs *FS) Remove(name string) error {
	fs.changes.RLock()
	defer fs.changes.RUnlock()
	fs.set(name, nil)
	return fs.MemFS.Remove(name)
}

// RemoveAll implements vfs.FS.
func (fs *FS) RemoveAll(name string) error {
	fs.changes.RLock()
	defer fs.changes.RUnlock()
	return fs.MemFS.RemoveAll(name)
}

// Rename implements vfs.FS.
func (fs *FS) Rename(oldname, newname string) error {
	fs.changes.RLock()
	defer fs.changes.RUnlock()
	err := fs.MemFS.Rename(oldname, newname)
	if err == nil {
		n := fs.node(oldname)
		fs.set(oldname, nil)
		fs.set(newname, n)
	}
	return err
}

// node returns the node of a file; a new one is not noted.
func (fs *FS) node(name string) *node {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if n := fs.nodes[filepath.Clean(name)]; n != nil {
		return n
	}
	return &node{}
}

// set notes the node of a file, or forgets that of one.
func (fs *FS) set(name string, n *node) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if name = filepath.Clean(name); n != nil {
		fs.nodes[name] = n
	} else {
		delete(fs.nodes, name)
	}
}

func (fs *FS) file(f vfs.File, err error, name string, n *node) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	if name != "" {
		fs.set(name, n)
	}
	return &file{File: f, fs: fs, node: n}, nil
}

// A file is an open file that may be written to or synced, or a directory that may be synced.
type file struct {
	vfs.File
	fs   *FS
	node *node
	end  int // of the last Write
}

func (f *file) Write(b []byte) (int, error) {
	f.fs.changes.RLock()
	defer f.fs.changes.RUnlock()
	f.node.written(f.end, f.end+len(b))
	f.end += len(b)
	return f.File.Write(slices.Clone(b)) // with the race detector Pebble's file system inverts what it is given
}

func (f *file) WriteAt(b []byte, at int64) (int, error) {
	f.fs.changes.RLock()
	defer f.fs.changes.RUnlock()
	f.node.written(int(at), int(at)+len(b))
	return f.File.WriteAt(slices.Clone(b), at)
}

func (f *file) Sync() error {
	f.fs.changes.RLock()
	defer f.fs.changes.RUnlock()
	return f.node.synced(f.File.Sync())
}

func (f *file) SyncData() error {
	f.fs.changes.RLock()
	defer f.fs.changes.RUnlock()
	return f.node.synced(f.File.SyncData())
}

func (f *file) SyncTo(length int64) (bool, error) {
	f.fs.changes.RLock()
	defer f.fs.changes.RUnlock()
	return f.File.SyncTo(length)
}
