package files

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// An PebbleFS is the file system as Pebble sees it. It keeps a rule of the store's log: no table is
// complete before the log has all that it may hold on stable storage. And it makes up for some habits
// of Pebble's.
//
// Pebble creates a log of its own when it is opened, although it is told to write none: that one is
// nowhere.
//
// While flushes and compactions fail, Pebble tries again at once, for ever, and on a
// full disk would keep a CPU busy with it. It asks for the free space after each
// attempt, without holding a lock: that question is answered late.
//
// Pebble makes the path of the logs of the path of the tables and "..". The system would
// look for ".." in the target of a link, and a file system in memory knows none: so the
// path is made shorter by its text alone.
//
// Pebble names its new manifest in a marker file before the manifest's own name is
// durable. A file system that does not keep such steps in order may, after a power
// loss, have the one without the other: so the directory is synced in between.
type PebbleFS struct {
	vfs.FS
	logs     string
	logFirst func() error
	stop     <-chan struct{}
	failures atomic.Int32 // of flushes and compactions, in a row
	parked   atomic.Bool
}

// ForPebble returns a file system for Pebble on another one. logs is the directory of logs. logFirst
// makes all that has been appended to the store's log durable. stop is closed before Pebble is.
func ForPebble(fs vfs.FS, logs string, logFirst func() error, stop <-chan struct{}) *PebbleFS {
	return &PebbleFS{FS: fs, logs: filepath.Clean(logs), logFirst: logFirst, stop: stop}
}

const (
	minPace = 10 * time.Millisecond
	maxPace = time.Second
)

// GetDiskUsage implements vfs.FS.
func (e *PebbleFS) GetDiskUsage(path string) (vfs.DiskUsage, error) {
	if n := e.failures.Load(); n > 0 {
		timer := time.NewTimer(min(minPace<<min(n-1, 10), maxPace))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-e.stop:
		}
	}
	if e.parked.Load() {
		select {} // see park
	}
	return e.FS.GetDiskUsage(path)
}

// Park stops Pebble for good at the end of the attempt it is at: there is no other way
// to be rid of one that does not get through opening a database.
func (e *PebbleFS) Park() { e.parked.Store(true) }

// IsParked reports whether park was called.
func (e *PebbleFS) IsParked() bool { return e.parked.Load() }

// TablesFailed counts a failure of a flush or a compaction, and returns how many there were in a
// row.
func (e *PebbleFS) TablesFailed() int { return int(e.failures.Add(1)) }

// FailedTables is how many flushes and compactions have failed in a row.
func (e *PebbleFS) FailedTables() int32 { return e.failures.Load() }

// TablesWritten ends the row of failures.
func (e *PebbleFS) TablesWritten() { e.failures.Store(0) }

// Create implements vfs.FS.
func (e *PebbleFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if strings.HasPrefix(e.PathBase(name), "marker.") {
		if err := SyncDir(e.FS, e.PathDir(name)); err != nil {
			return nil, err
		}
	}
	if strings.HasSuffix(name, ".log") && filepath.Clean(e.PathDir(name)) == e.logs {
		return nowhere{}, nil
	}
	f, err := e.FS.Create(name, category)
	if err == nil && strings.HasSuffix(name, ".sst") {
		f = table{f, e}
	}
	return f, err
}

// A table is a file that may only be complete once the log has all that it may hold.
type table struct {
	vfs.File
	fs *PebbleFS
}

// Sync implements vfs.File.
func (t table) Sync() error { return t.after(t.File.Sync) }

// SyncData implements vfs.File.
func (t table) SyncData() error { return t.after(t.File.SyncData) }

func (t table) after(sync func() error) error {
	if err := t.fs.logFirst(); err != nil {
		return err
	}
	return sync()
}

// nowhere is a file that is not there.
type nowhere struct{ vfs.File }

// Close implements vfs.File, as do the other methods: nothing is done.
func (nowhere) Close() error                           { return nil }
func (nowhere) Stat() (vfs.FileInfo, error)            { return nothing{}, nil }
func (nowhere) Fd() uintptr                            { return vfs.InvalidFd }
func (nowhere) Prefetch(_, _ int64) error              { return nil }
func (nowhere) Preallocate(_, _ int64) error           { return nil }
func (nowhere) Sync() error                            { return nil }
func (nowhere) SyncData() error                        { return nil }
func (nowhere) SyncTo(int64) (bool, error)             { return false, nil }
func (nowhere) Write(p []byte) (int, error)            { return len(p), nil }
func (nowhere) WriteAt(p []byte, _ int64) (int, error) { return len(p), nil }
func (nowhere) ReadAt([]byte, int64) (int, error)      { return 0, io.EOF }

type nothing struct{ os.FileInfo }

func (nothing) Size() int64            { return 0 }
func (nothing) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }

// MkdirAll implements vfs.FS.
func (e *PebbleFS) MkdirAll(dir string, perm os.FileMode) error {
	return e.FS.MkdirAll(filepath.Clean(dir), perm)
}

// OpenDir implements vfs.FS.
func (e *PebbleFS) OpenDir(name string) (vfs.File, error) {
	return e.FS.OpenDir(filepath.Clean(name))
}

// List implements vfs.FS.
func (e *PebbleFS) List(dir string) ([]string, error) { return e.FS.List(filepath.Clean(dir)) }

// Stat implements vfs.FS.
func (e *PebbleFS) Stat(name string) (vfs.FileInfo, error) { return e.FS.Stat(filepath.Clean(name)) }
