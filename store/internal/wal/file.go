package wal

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// file is one log. Pebble's flusher is the only one that writes; sync is also
// called by Sync.
type file struct {
	vfs.File
	fs      *FS
	num     uint64
	broken  atomic.Bool
	written atomic.Int64 // bytes handed to the operating system
	dirty   atomic.Int64 // when the oldest of them that is not stored was written, or 0

	mu     sync.Mutex // serializes fsyncs and Close
	synced int64
	closed bool
}

func (f *file) breakWith(err error) {
	f.broken.Store(true)
	f.fs.fail(err)
}

// Write implements vfs.File.
func (f *file) Write(p []byte) (int, error) {
	if f.broken.Load() {
		return len(p), nil
	}
	began := f.fs.waits.begin(f.fs.clock())
	n, err := f.File.Write(p)
	began.Store(0)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		f.breakWith(fmt.Errorf("write log %d: %w", f.num, err))
		return len(p), nil
	}
	f.written.Add(int64(n))
	if f.fs.written.Add(int64(n)) >= f.fs.lookAt.Load() {
		f.fs.look()
	}
	if f.dirty.Load() == 0 {
		f.dirty.Store(f.fs.clock())
	}
	return n, nil
}

// Stat implements vfs.File. Pebble asks for the size of a log that it uses again,
// for its statistics only, but panics if there is no answer.
func (f *file) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil {
		return missingInfo{}, nil
	}
	return info, nil
}

// Preallocate implements vfs.File; a full disk shows when it is written to.
func (f *file) Preallocate(off, n int64) error {
	if !f.broken.Load() {
		_ = f.File.Preallocate(off, n)
	}
	return nil
}

// SyncTo implements vfs.File: it starts writing back, so that the next fsync is
// short.
func (f *file) SyncTo(n int64) (bool, error) {
	if f.broken.Load() {
		return false, nil
	}
	if _, err := f.File.SyncTo(n); err != nil {
		f.breakWith(fmt.Errorf("sync log %d: %w", f.num, err))
	}
	return false, nil
}

// Sync implements vfs.File.
func (f *file) Sync() error { return f.SyncData() }

// SyncData implements vfs.File: see FS.
func (f *file) SyncData() error {
	switch f.fs.mode {
	case Always:
		f.sync()
	case EverySec:
		if since := f.dirty.Load(); since != 0 && f.fs.clock()-since > int64(f.fs.patience) {
			f.sync()
		}
	}
	return nil
}

// sync does what SyncData says, whatever the mode.
func (f *file) sync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.syncLocked()
	}
}

func (f *file) syncLocked() {
	f.dirty.Store(0)
	commits := f.fs.commits.Load()
	upTo := f.written.Load()
	start := time.Now()
	if f.broken.Load() {
		return
	}
	if upTo == f.synced {
		f.fs.syncedAll(start, commits)
		return
	}
	began := f.fs.waits.begin(f.fs.clock())
	err := f.File.SyncData()
	began.Store(0)
	if err != nil {
		f.breakWith(fmt.Errorf("fsync log %d: %w", f.num, err))
		return
	}
	took := time.Since(start)
	f.fs.syncs.Add(took)
	f.fs.syncNanos.Add(int64(took))
	f.fs.syncedAll(start, commits)
	f.synced = upTo
	f.fs.writeMark(Mark{f.num, upTo})
}

// Close implements vfs.File. The log is stored in every mode before its successor
// is created: a successor that survives a crash which its predecessor did not
// would be a hole in history.
func (f *file) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	f.syncLocked()
	f.closed = true
	if err := f.File.Close(); err != nil {
		f.breakWith(fmt.Errorf("close log %d: %w", f.num, err))
	}
	return nil
}

// missingFile stands in for a log that could not be created.
type missingFile struct{ vfs.File }

// Close implements vfs.File, as do the other methods: nothing is done.
func (missingFile) Close() error                      { return nil }
func (missingFile) Stat() (vfs.FileInfo, error)       { return missingInfo{}, nil }
func (missingFile) Fd() uintptr                       { return vfs.InvalidFd }
func (missingFile) Prefetch(_, _ int64) error         { return nil }
func (missingFile) Preallocate(_, _ int64) error      { return nil }
func (missingFile) SyncTo(int64) (bool, error)        { return false, nil }
func (missingFile) Write(p []byte) (int, error)       { return len(p), nil }
func (missingFile) ReadAt([]byte, int64) (int, error) { return 0, io.EOF }

type missingInfo struct{ os.FileInfo }

func (missingInfo) Size() int64            { return 0 }
func (missingInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
