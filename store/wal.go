package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
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
// acknowledges anything (settle.go). A log that failed once takes nothing more:
// the store writes out its memtables instead, which makes the log needless, and
// goes on with a new one (health.go).
//
// A second file, the mark, says up to where which log is on stable storage. When
// the store opens, a log that is damaged before its mark is an error; behind it,
// it is the torn tail that a crash leaves.
type walFS struct {
	vfs.FS
	dir   string
	mode  Fsync
	onErr func(error) // called on the first failure after a heal; must not block

	mu      sync.Mutex
	failure error
	current *walFile
	mark    vfs.File

	syncs     atomic.Int64 // real fsyncs
	syncNanos atomic.Int64
	written   atomic.Int64 // bytes
	// lastSync is when all that had been written was on stable storage last, in
	// ns since 1970.
	lastSync atomic.Int64
}

const walMarkName = "synced"

func newWALFS(fs vfs.FS, dir string, mode Fsync, onErr func(error)) *walFS {
	return &walFS{FS: fs, dir: dir, mode: mode, onErr: onErr}
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
	f, err := w.FS.Create(name, category)
	return w.wrap(f, num, err), nil
}

// ReuseForWrite implements vfs.FS.
func (w *walFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	num, ok := w.isLog(newname)
	if !ok {
		return w.FS.ReuseForWrite(oldname, newname, category)
	}
	f, err := w.FS.ReuseForWrite(oldname, newname, category)
	return w.wrap(f, num, err), nil
}

// OpenDir implements vfs.FS.
func (w *walFS) OpenDir(name string) (vfs.File, error) {
	f, err := w.FS.OpenDir(name)
	if err != nil || filepath.Clean(name) != filepath.Clean(w.dir) {
		return f, err
	}
	return &walDirFile{File: f, fs: w}, nil
}

func (w *walFS) wrap(f vfs.File, num uint64, err error) vfs.File {
	file := &walFile{File: f, fs: w, num: num}
	if err != nil {
		file.File = missingFile{}
		file.broken.Store(true)
		w.fail(fmt.Errorf("create log %d: %w", num, err))
	}
	w.mu.Lock()
	w.current = file
	w.mu.Unlock()
	return file
}

// fail remembers the first failure since the last heal.
func (w *walFS) fail(err error) {
	w.mu.Lock()
	first := w.failure == nil
	if first {
		w.failure = err
	}
	w.mu.Unlock()
	if first && w.onErr != nil {
		w.onErr(err)
	}
}

// failed returns why the log cannot be relied on, or nil.
func (w *walFS) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.failure
}

// heal declares that the log may be relied on again: everything applied before
// is in tables, and the current log has not failed.
func (w *walFS) heal() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current != nil && w.current.broken.Load() {
		return false
	}
	w.failure = nil
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
	if err := d.File.Sync(); err != nil {
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
	n, err := f.File.Write(p)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		f.breakWith(fmt.Errorf("write log %d: %w", f.num, err))
		return len(p), nil
	}
	f.written.Add(int64(n))
	f.fs.written.Add(int64(n))
	return n, nil
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
	if f.fs.mode == FsyncAlways {
		f.sync()
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
	upTo := f.written.Load()
	start := time.Now()
	if f.broken.Load() {
		return
	}
	if upTo == f.synced {
		f.fs.lastSync.Store(start.UnixNano())
		return
	}
	if err := f.File.SyncData(); err != nil {
		f.breakWith(fmt.Errorf("fsync log %d: %w", f.num, err))
		return
	}
	f.fs.syncs.Add(1)
	f.fs.syncNanos.Add(int64(time.Since(start)))
	f.fs.lastSync.Store(start.UnixNano())
	f.synced = upTo
	f.fs.writeMark(f.num, upTo)
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

// The mark: log number 8 B LE, bytes 8 B LE, CRC-32 of both 4 B.
const walMarkSize = 20

func (w *walFS) writeMark(num uint64, synced int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mark == nil {
		f, err := w.FS.OpenReadWrite(w.FS.PathJoin(w.dir, walMarkName), "ringside-wal-mark")
		if err != nil {
			return // a missing mark only means a weaker check
		}
		w.mark = f
	}
	var b [walMarkSize]byte
	binary.LittleEndian.PutUint64(b[:], num)
	binary.LittleEndian.PutUint64(b[8:], uint64(synced))
	binary.LittleEndian.PutUint32(b[16:], crc32.ChecksumIEEE(b[:16]))
	_, _ = w.mark.WriteAt(b[:], 0)
}

func (w *walFS) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mark != nil {
		_ = w.mark.Close()
		w.mark = nil
	}
}

// verify compares the log that the mark names with the mark. It returns how many
// undamaged bytes lie behind the mark.
func (w *walFS) verify() (recovered int64, err error) {
	f, err := w.FS.Open(w.FS.PathJoin(w.dir, walMarkName))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open log mark: %w", err)
	}
	var b [walMarkSize]byte
	_, err = f.ReadAt(b[:], 0)
	_ = f.Close()
	if err != nil || binary.LittleEndian.Uint32(b[16:]) != crc32.ChecksumIEEE(b[:16]) {
		return 0, nil // written in the moment of a power loss
	}
	num := binary.LittleEndian.Uint64(b[:])
	synced := int64(binary.LittleEndian.Uint64(b[8:]))
	path := w.FS.PathJoin(w.dir, fmt.Sprintf("%06d.log", num))
	log, err := w.FS.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil // its memtable was written out and it was deleted or renamed since
	}
	if err != nil {
		return 0, fmt.Errorf("open log %d: %w", num, err)
	}
	defer func() { _ = log.Close() }()
	end, err := validPrefix(log, num)
	if err != nil {
		return 0, fmt.Errorf("read log %s: %w", path, err)
	}
	if end < synced {
		return 0, fmt.Errorf("%w: log %s is readable up to byte %d, but %d bytes were stored in it",
			ErrDamaged, path, end, synced)
	}
	return end - synced, nil
}

// validPrefix returns the length of the undamaged part of a log: the bytes that
// chunks with a right checksum and the log's number cover, from its start.
//
// A log consists of blocks of 32 KiB, these of chunks: checksum 4 B (masked
// CRC-32C of all that follows), length 2 B, kind 1 B, low half of the log number
// 4 B, data. What is left of a block when no chunk's head fits is zero. A log
// that was closed ends with an empty chunk of the next log's number and no
// checksum. (The format
// of LevelDB, with log numbers as in RocksDB's recycled logs; Pebble package
// record.)
func validPrefix(r io.Reader, num uint64) (int64, error) {
	const (
		blockSize = 32 << 10
		headSize  = 11
		firstKind = 5
		lastKind  = 8
	)
	var block [blockSize]byte
	var base int64
	for {
		n, err := io.ReadFull(r, block[:])
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return base, err
		}
		pos := 0
		for pos+headSize <= n {
			head := block[pos:n]
			size := headSize + int(binary.LittleEndian.Uint16(head[4:]))
			chunkNum := binary.LittleEndian.Uint32(head[7:])
			if chunkNum == uint32(num)+1 && size == headSize {
				return base + int64(pos+size), nil
			}
			if head[6] < firstKind || head[6] > lastKind || size > len(head) || chunkNum != uint32(num) ||
				binary.LittleEndian.Uint32(head) != maskedCRC(head[6:size]) {
				return base + int64(pos), nil
			}
			pos += size
		}
		if n < blockSize {
			return base + int64(pos), nil
		}
		base += blockSize
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func maskedCRC(b []byte) uint32 {
	c := crc32.Checksum(b, castagnoli)
	return (c>>15 | c<<17) + 0xa282ead8
}
