package wal

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/internal/durations"
)

// A Mode says what must have happened to a write before it is acknowledged.
type Mode string

// The modes.
const (
	// Always: it is on stable storage.
	Always Mode = "always"
	// EverySec: the operating system has it; it reaches stable storage within a second. It
	// survives the process, not always the machine.
	EverySec Mode = "everysec"
	// No: the operating system has it, and decides when to store it.
	No Mode = "no"
)

// FS is the file system that Pebble's write-ahead log lives on. It takes over
// what a Sync means and what happens when one fails.
//
// Pebble calls Sync on the log for each group of commits. In mode always that is
// an fsync. In the other modes the write before it has handed the data to the
// operating system, which is all they promise before a reply, and the fsync is
// done by Sync, once a second, or never. (Pebble's own NoSync is no substitute:
// it leaves the data in the process until its writer gets to it, and a kill -9
// loses it.)
//
// Pebble ends the process, or stops for ever, when its log fails. So FS
// reports success, remembers the failure, and the store asks for it before it
// acknowledges anything. A log that failed once takes nothing more,
// and its successors are not created at all: whatever the moment of a crash, the
// logs on disk hold a beginning of history with no hole in it, and only the last
// of them has a torn end. The store writes out its memtables instead, which makes
// the failed log needless, and goes on with a new one.
//
// A further file, the marks, says up to where each log is on stable storage. When
// the store opens, a log that is missing, or damaged before its mark, is an error;
// behind the mark, damage is the torn tail that a crash leaves.
type FS struct {
	vfs.FS
	dir     string
	mode    Mode
	started time.Time
	failing func() // called when failed begins to return an error; must not block
	// patience is how old, in mode everysec, what has been written may become
	// before further writes wait for the fsync.
	patience time.Duration

	mu        sync.Mutex
	failure   error
	reopening bool // logs are created again, to find out whether that works
	ended     bool // for good, by End
	current   *file
	marks     vfs.File // see mark.go
	// slots are the logs whose marks lie in the slots of marks, 0 for a free one.
	slots [markSlots]uint64
	// before tells that the log of an earlier process had failed: see LogFailed.
	before atomic.Bool

	// waits are the operations on logs that the disk has not answered.
	waits underway

	syncs     durations.Counts // real fsyncs
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

// Config says where the log lies, and which callbacks it has.
type Config struct {
	FS   vfs.FS
	Dir  string // of the logs; the marks lie beside it
	Mode Mode
	// Failing is called when failed begins to return an error. It must not block.
	Failing func()
	// Look is called by the goroutine that writes, once as much has been written as lookOnce says.
	Look   func()
	Opened time.Time
}

// New returns a file system for the log. Verify comes first.
func New(c Config) *FS {
	w := &FS{FS: c.FS, dir: c.Dir, mode: c.Mode, started: time.Now(), failing: c.Failing, look: c.Look, patience: fsyncPatience}
	w.lookAt.Store(math.MaxInt64)
	w.lastSync.Store(c.Opened.UnixNano())
	return w
}

// isLog returns the number of the log file at path.
func (w *FS) isLog(path string) (uint64, bool) {
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
func (w *FS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	num, ok := w.isLog(name)
	if !ok {
		return w.FS.Create(name, category)
	}
	return w.newLog(num, func() (vfs.File, error) { return w.FS.Create(name, category) }), nil
}

// ReuseForWrite implements vfs.FS.
func (w *FS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
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
func (w *FS) Remove(name string) error {
	if num, ok := w.isLog(name); ok {
		if err := w.clearMark(num); err != nil {
			return err
		}
	}
	return w.FS.Remove(name)
}

// OpenDir implements vfs.FS.
func (w *FS) OpenDir(name string) (vfs.File, error) {
	f, err := w.FS.OpenDir(name)
	if err != nil || filepath.Clean(name) != filepath.Clean(w.dir) {
		return f, err
	}
	return &dirFile{File: f, fs: w}, nil
}

// newLog makes what create returns the current log.
func (w *FS) newLog(num uint64, create func() (vfs.File, error)) vfs.File {
	file := &file{File: missingFile{}, fs: w, num: num}
	w.mu.Lock()
	missing := w.failure != nil && !w.reopening
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

// fail remembers the first failure since the last Recover. The current log takes
// nothing more.
func (w *FS) fail(err error) {
	w.mu.Lock()
	first := w.failure == nil
	if first {
		w.failure = err
	}
	w.reopening = false
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

// End ends the log for good: it takes nothing more, and failed returns err.
func (w *FS) End(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure, w.reopening, w.ended = err, false, true
	if w.current != nil {
		w.current.broken.Store(true)
	}
}

// Failed returns why the log cannot be relied on, or nil.
func (w *FS) Failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// Reopen lets the next log be created. Everything in the logs before it must be in
// tables: a crash may now find this log behind a torn one.
func (w *FS) Reopen() {
	w.mu.Lock()
	w.reopening = !w.ended
	w.mu.Unlock()
}

// Recover declares that the log may be relied on again: a log has been created since
// Reopen, and everything applied before is in tables. It reports false if the new
// log has failed meanwhile.
func (w *FS) Recover() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil && !w.reopening {
		return false
	}
	w.failure, w.reopening = nil, false
	return true
}

// Sync makes what has been written to the log so far durable.
func (w *FS) Sync() {
	w.mu.Lock()
	f := w.current
	w.mu.Unlock()
	if f != nil {
		f.sync()
	}
}

// dirFile is the log's directory. Pebble syncs it after it created a log, and
// panics when that fails.
type dirFile struct {
	vfs.File
	fs *FS
}

// Sync implements vfs.File.
func (d *dirFile) Sync() error {
	began := d.fs.waits.begin(d.fs.clock())
	err := d.File.Sync()
	began.Store(0)
	if err != nil {
		d.fs.fail(fmt.Errorf("sync log directory: %w", err))
	}
	return nil
}

// clock is the time since the store was opened, in ns, and never 0.
func (w *FS) clock() int64 { return int64(time.Since(w.started)) + 1 }

// FailedBefore reports whether the log had failed when an earlier process ended, and was not
// healed. It stays so until ForgetFailure.
func (w *FS) FailedBefore() bool { return w.before.Load() }

// ForgetFailure is for a caller that has noted what FailedBefore tells.
func (w *FS) ForgetFailure() error {
	if !w.before.Swap(false) || w.Failed() != nil {
		return nil
	}
	return w.ClearFailure()
}

// Dir returns the directory of the logs.
func (w *FS) Dir() string { return w.dir }

// SetPatience changes how old, in mode everysec, what has been written may become before further
// writes wait for the fsync: for tests.
func (w *FS) SetPatience(d time.Duration) { w.patience = d }
