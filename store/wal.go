package store

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Fsync says what must have happened to a write before it is acknowledged.
type Fsync string

// The fsync modes.
const (
	// FsyncAlways: it is on stable storage.
	FsyncAlways Fsync = "always"
	// FsyncEverySec: the operating system has it; it reaches stable storage
	// within a second. Survives the process, not always the machine.
	FsyncEverySec Fsync = "everysec"
	// FsyncNo: the operating system has it, and decides when to store it.
	FsyncNo Fsync = "no"
)

// walFS is the file system that Pebble's write-ahead log lives on. It takes over
// what a Sync means and what happens when one fails.
//
// Pebble calls Sync on the log for each group of commits. In mode always that is
// an fsync. In the other modes the write before it has handed the data to the
// operating system, which is all they promise before a reply, and the fsync is
// done by tick, once a second, or never. (Pebble's own NoSync is no substitute:
// it leaves the data in the process until its writer gets to it, and a kill -9
// loses it.)
//
// Pebble ends the process, or stops for ever, when its log fails. So walFS
// reports success, remembers the failure, and the store asks for it before it
// acknowledges anything (settle.go). A log that failed once takes nothing more,
// and its successors are not created at all: whatever the moment of a crash, the
// logs on disk hold a beginning of history with no hole in it, and only the last
// of them has a torn end. The store writes out its memtables instead, which makes
// the failed log needless, and goes on with a new one (health.go).
//
// A further file, the marks, says up to where each log is on stable storage. When
// the store opens, a log that is missing, or damaged before its mark, is an error;
// behind the mark, damage is the torn tail that a crash leaves.
type walFS struct {
	vfs.FS
	dir     string
	mode    Fsync
	started time.Time
	failing func() // called when failed begins to return an error; must not block
	// patience is how old, in mode everysec, what has been written may become
	// before further writes wait for the fsync.
	patience time.Duration

	mu       sync.Mutex
	failure  error
	reviving bool // logs are created again, to find out whether that works
	ended    bool // for good, by cut
	current  *walFile
	marks    vfs.File // see mark.go
	// slots are the logs whose marks lie in the slots of marks, 0 for a free one.
	slots [walMarkSlots]uint64
	// before tells that the log of an earlier process had failed: see LogFailed.
	before atomic.Bool

	// waits are the operations on logs that the disk has not answered.
	waits underway

	syncs     atomic.Int64 // real fsyncs
	syncNanos atomic.Int64
	written   atomic.Int64 // bytes
	// look is called by the goroutine that writes, once lookAt bytes have been written. It
	// sets lookAt anew.
	look   func()
	lookAt atomic.Int64
	// lastSync is when all that had been written was on stable storage last, in
	// ns since 1970.
	lastSync atomic.Int64
	// commits counts the commits that were handed to the log, syncedCommits those of them that
	// were on stable storage at lastSync.
	commits, syncedCommits atomic.Int64
}

// fsyncPatience is twice the ticker's period, so that it only shows on a disk that
// does not keep up.
const fsyncPatience = 2 * time.Second

func newWALFS(fs vfs.FS, dir string, mode Fsync, failing func()) *walFS {
	w := &walFS{FS: fs, dir: dir, mode: mode, started: time.Now(), failing: failing, patience: fsyncPatience, look: func() {}}
	w.lookAt.Store(math.MaxInt64)
	return w
}

// isLog returns the number of the log file at path.
func (w *walFS) isLog(path string) (uint64, bool) {
	if filepath.Clean(filepath.Dir(path)) != filepath.Clean(w.dir) {
		return 0, false
	}
	name, ok := strings.CutSuffix(filepath.Base(path), ".log")
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(name, 10, 64)
	return n, err == nil
}

// Create implements vfs.FS.
func (w *walFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	num, ok := w.isLog(name)
	if !ok {
		return w.FS.Create(name, category)
	}
	return w.newLog(num, func() (vfs.File, error) { return w.FS.Create(name, category) }), nil
}

// ReuseForWrite implements vfs.FS.
func (w *walFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	num, ok := w.isLog(newname)
	if !ok {
		return w.FS.ReuseForWrite(oldname, newname, category)
	}
	return w.newLog(num, func() (vfs.File, error) {
		if old, ok := w.isLog(oldname); ok {
			if err := w.clearMark(old); err != nil {
				return nil, err
			}
		}
		f, err := w.FS.ReuseForWrite(oldname, newname, category)
		if errors.Is(err, os.ErrNotExist) {
			// A log that Pebble believes in but that was never created.
			f, err = w.FS.Create(newname, category)
		}
		return f, err
	}), nil
}

// Remove implements vfs.FS.
func (w *walFS) Remove(name string) error {
	if num, ok := w.isLog(name); ok {
		if err := w.clearMark(num); err != nil {
			return err
		}
	}
	return w.FS.Remove(name)
}

// OpenDir implements vfs.FS.
func (w *walFS) OpenDir(name string) (vfs.File, error) {
	f, err := w.FS.OpenDir(name)
	if err != nil || filepath.Clean(name) != filepath.Clean(w.dir) {
		return f, err
	}
	return &walDirFile{File: f, fs: w}, nil
}

// newLog makes what create returns the current log.
func (w *walFS) newLog(num uint64, create func() (vfs.File, error)) vfs.File {
	file := &walFile{File: missingFile{}, fs: w, num: num}
	w.mu.Lock()
	missing := w.failure != nil && !w.reviving
	w.current = file
	w.mu.Unlock()
	if missing {
		file.broken.Store(true)
		return file
	}
	began := w.waits.begin(w.clock())
	f, err := create()
	began.Store(0)
	if err != nil {
		w.fail(fmt.Errorf("create log %d: %w", num, err))
		return file
	}
	file.File = f
	return file
}

// fail remembers the first failure since the last heal. The current log takes
// nothing more.
func (w *walFS) fail(err error) {
	w.mu.Lock()
	first := w.failure == nil
	if first {
		w.failure = err
	}
	w.reviving = false
	if w.current != nil {
		w.current.broken.Store(true)
	}
	w.mu.Unlock()
	if first {
		store := w.noteFailure()
		w.failing()
		store()
	}
}

// cut has the log take nothing any more, for good.
func (w *walFS) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure, w.reviving, w.ended = ErrCrashed, false, true
	if w.current != nil {
		w.current.broken.Store(true)
	}
}

// failed returns why the log cannot be relied on, or nil.
func (w *walFS) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// revive lets the next log be created. Everything in the logs before it must be in
// tables: a crash may now find this log behind a torn one.
func (w *walFS) revive() {
	w.mu.Lock()
	w.reviving = !w.ended
	w.mu.Unlock()
}

// heal declares that the log may be relied on again: a log has been created since
// revive, and everything applied before is in tables. It reports false if the new
// log has failed meanwhile.
func (w *walFS) heal() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil && !w.reviving {
		return false
	}
	w.failure, w.reviving = nil, false
	return true
}

// tick makes what has been written to the log so far durable.
func (w *walFS) tick() {
	w.mu.Lock()
	f := w.current
	w.mu.Unlock()
	if f != nil {
		f.sync()
	}
}

// walDirFile is the log's directory. Pebble syncs it after it created a log, and
// panics when that fails.
type walDirFile struct {
	vfs.File
	fs *walFS
}

func (d *walDirFile) Sync() error {
	began := d.fs.waits.begin(d.fs.clock())
	err := d.File.Sync()
	began.Store(0)
	if err != nil {
		d.fs.fail(fmt.Errorf("sync log directory: %w", err))
	}
	return nil
}

// walFile is one log. Pebble's flusher is the only one that writes; sync is also
// called by tick.
type walFile struct {
	vfs.File
	fs      *walFS
	num     uint64
	broken  atomic.Bool
	written atomic.Int64 // bytes handed to the operating system
	dirty   atomic.Int64 // when the oldest of them that is not stored was written, or 0

	mu     sync.Mutex // serializes fsyncs and Close
	synced int64
	closed bool
}

func (f *walFile) breakWith(err error) {
	f.broken.Store(true)
	f.fs.fail(err)
}

// Write implements vfs.File.
func (f *walFile) Write(p []byte) (int, error) {
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

// clock is the time since the store was opened, in ns, and never 0.
func (w *walFS) clock() int64 { return int64(time.Since(w.started)) + 1 }

// Stat implements vfs.File. Pebble asks for the size of a log that it uses again,
// for its statistics only, but panics if there is no answer.
func (f *walFile) Stat() (vfs.FileInfo, error) {
	info, err := f.File.Stat()
	if err != nil {
		return missingInfo{}, nil
	}
	return info, nil
}

// Preallocate implements vfs.File; a full disk shows when it is written to.
func (f *walFile) Preallocate(off, n int64) error {
	if !f.broken.Load() {
		_ = f.File.Preallocate(off, n)
	}
	return nil
}

// SyncTo implements vfs.File: it starts writing back, so that the next fsync is
// short.
func (f *walFile) SyncTo(n int64) (bool, error) {
	if f.broken.Load() {
		return false, nil
	}
	if _, err := f.File.SyncTo(n); err != nil {
		f.breakWith(fmt.Errorf("sync log %d: %w", f.num, err))
	}
	return false, nil
}

// Sync implements vfs.File.
func (f *walFile) Sync() error { return f.SyncData() }

// SyncData implements vfs.File: see walFS.
func (f *walFile) SyncData() error {
	switch f.fs.mode {
	case FsyncAlways:
		f.sync()
	case FsyncEverySec:
		if since := f.dirty.Load(); since != 0 && f.fs.clock()-since > int64(f.fs.patience) {
			f.sync()
		}
	}
	return nil
}

// sync does what SyncData says, whatever the mode.
func (f *walFile) sync() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed {
		f.syncLocked()
	}
}

func (f *walFile) syncLocked() {
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
	f.fs.syncs.Add(1)
	f.fs.syncNanos.Add(int64(time.Since(start)))
	f.fs.syncedAll(start, commits)
	f.synced = upTo
	f.fs.writeMark(walMark{f.num, upTo})
}

// Close implements vfs.File. The log is stored in every mode before its successor
// is created: a successor that survives a crash which its predecessor did not
// would be a hole in history.
func (f *walFile) Close() error {
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

// syncedAll notes that all that had been written at a moment, so many commits, is on stable
// storage.
func (w *walFS) syncedAll(at time.Time, commits int64) {
	w.lastSync.Store(at.UnixNano())
	w.syncedCommits.Store(commits)
}

// unsyncedCommits is about how many commits are not known to be on stable storage; with
// FsyncAlways none is acknowledged before it is there.
func (w *walFS) unsyncedCommits() int64 {
	if w.mode == FsyncAlways {
		return 0
	}
	return max(w.commits.Load()-w.syncedCommits.Load(), 0)
}
