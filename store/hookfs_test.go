package store

import (
	"errors"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// A hookFS calls its hook before each operation, which fails if the hook returns an
// error. (Pebble's errorfs does the same but for files that are used again, and
// those are what a log is made of.)
type hookFS struct {
	vfs.FS
	hook func(errorfs.Op) error
}

// errShort as the hook's error lets half of a write happen first; errQuietlyShort
// is half of a write that reports no error.
var (
	errShort        = errors.New("short write")
	errQuietlyShort = errors.New("short write without an error")
)

func (fs *hookFS) file(f vfs.File, name string, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &hookFile{f, name, fs.hook}, nil
}

func (fs *hookFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpCreate, Path: name}); err != nil {
		return nil, err
	}
	f, err := fs.FS.Create(name, category)
	return fs.file(f, name, err)
}

func (fs *hookFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpReuseForWrite, Path: newname}); err != nil {
		return nil, err
	}
	f, err := fs.FS.ReuseForWrite(oldname, newname, category)
	return fs.file(f, newname, err)
}

func (fs *hookFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpOpen, Path: name}); err != nil {
		return nil, err
	}
	f, err := fs.FS.OpenReadWrite(name, category, opts...)
	return fs.file(f, name, err)
}

func (fs *hookFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpOpen, Path: name}); err != nil {
		return nil, err
	}
	f, err := fs.FS.Open(name, opts...)
	return fs.file(f, name, err)
}

func (fs *hookFS) OpenDir(name string) (vfs.File, error) {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpOpenDir, Path: name}); err != nil {
		return nil, err
	}
	f, err := fs.FS.OpenDir(name)
	return fs.file(f, name, err)
}

func (fs *hookFS) Remove(name string) error {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpRemove, Path: name}); err != nil {
		return err
	}
	return fs.FS.Remove(name)
}

func (fs *hookFS) Rename(oldname, newname string) error {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpRename, Path: oldname}); err != nil {
		return err
	}
	return fs.FS.Rename(oldname, newname)
}

func (fs *hookFS) MkdirAll(dir string, perm os.FileMode) error {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpMkdirAll, Path: dir}); err != nil {
		return err
	}
	return fs.FS.MkdirAll(dir, perm)
}

func (fs *hookFS) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	if err := fs.hook(errorfs.Op{Kind: errorfs.OpGetDiskUsage, Path: path}); err != nil {
		return vfs.DiskUsage{}, err
	}
	return fs.FS.GetDiskUsage(path)
}

type hookFile struct {
	vfs.File
	name string
	hook func(errorfs.Op) error
}

func (f *hookFile) call(kind errorfs.OpKind) error {
	return f.hook(errorfs.Op{Kind: kind, Path: f.name})
}

func (f *hookFile) Write(p []byte) (int, error) {
	err := f.call(errorfs.OpFileWrite)
	if err == nil {
		return f.File.Write(p)
	}
	n := 0
	if errors.Is(err, errShort) || errors.Is(err, errQuietlyShort) {
		n, _ = f.File.Write(p[:len(p)/2])
	}
	if errors.Is(err, errQuietlyShort) {
		err = nil
	}
	return n, err
}

func (f *hookFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.call(errorfs.OpFileWriteAt); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, off)
}

func (f *hookFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.call(errorfs.OpFileReadAt); err != nil {
		return 0, err
	}
	return f.File.ReadAt(p, off)
}

func (f *hookFile) Sync() error {
	if err := f.call(errorfs.OpFileSync); err != nil {
		return err
	}
	return f.File.Sync()
}

func (f *hookFile) SyncData() error {
	if err := f.call(errorfs.OpFileSyncData); err != nil {
		return err
	}
	return f.File.SyncData()
}

func (f *hookFile) SyncTo(n int64) (bool, error) {
	if err := f.call(errorfs.OpFileSyncTo); err != nil {
		return false, err
	}
	return f.File.SyncTo(n)
}

func (f *hookFile) Preallocate(off, n int64) error {
	if err := f.call(errorfs.OpFilePreallocate); err != nil {
		return err
	}
	return f.File.Preallocate(off, n)
}

func (f *hookFile) Stat() (vfs.FileInfo, error) {
	if err := f.call(errorfs.OpFileStat); err != nil {
		return nil, err
	}
	return f.File.Stat()
}

// Close closes the file even if the hook says no, as close(2) does.
func (f *hookFile) Close() error {
	return errors.Join(f.call(errorfs.OpFileClose), f.File.Close())
}
