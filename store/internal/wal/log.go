package wal

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
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

// A Log is the write-ahead log of a store. Each record is a batch, whose entries name whole values: to
// apply all records from some one on again, in order, gives the same state whatever part of them the
// tables have already. Four rules make that true after every crash:
//
//   - A record is appended before what it changes can be seen, under the latches of its keys. So the
//     records of a key are in the order in which it was changed, and a record comes after all that its
//     unit has read.
//   - A table is not complete before everything that has been appended is on stable storage (Sync, by
//     the file system that Pebble writes tables to). So tables have nothing that the log lacks.
//   - A segment is removed once all its records are in tables (Drop).
//   - The records on disk are without a gap. What is not known to be on stable storage stays in memory
//     as well. After a failure the log takes nothing (Append returns the failure) until a new segment has
//     all of that (Recover): it stands in for the end of the failed one, of which the disk may have lost
//     anything.
//
// All methods may be called from any goroutine.
type Log struct {
	cfg     Config
	started time.Time
	marks   marks

	// syncing is held during an fsync and a change of the segment, writing during a write; syncing
	// comes first, mu last. A record can be appended, and written, while an fsync is under way.
	syncing, writing turn
	// dropping is held while segments are removed, and comes before mu alone: each is removed once.
	dropping turn
	file     vfs.File // of the newest segment on disk, nil for none; guarded by writing
	on       segment  // likewise
	handed   int64    // bytes of it that the operating system has; likewise
	ranged   int64    // bytes of it that are on their way to the disk; likewise

	mu sync.Mutex
	// next is the number of the next record.
	next uint64
	// segments has those that exist and, perhaps, one that the next write creates.
	segments []segment
	// tail has the records that are not known to be on stable storage, oldest first.
	tail []*chunk
	// unsynced is how many bytes they have.
	unsynced int64
	spare    [][]byte
	failure  error
	ended    bool   // for good, by End
	opened   uint64 // number of the last record when the log was opened
	existing int    // how many of segments there were then
	before   bool   // the log of an earlier process had failed: see FailedBefore

	dirty    atomic.Int64 // when the oldest byte that is not stored was written, or 0
	patience atomic.Int64 // how old, in mode everysec, that may become before writes wait for the fsync
	stats    figures
	waits    underway // operations that the disk has not answered
}

// A turn is a lock that is held while the disk is waited for. It is a channel since virtual time sees a
// goroutine wait at one.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// Lock takes the turn.
func (t turn) Lock() { t <- struct{}{} }

// Unlock lets it go.
func (t turn) Unlock() { <-t }

// A chunk is consecutive records of one segment.
type chunk struct {
	segment uint64
	first   uint64 // number of the first record
	bytes   []byte
	written int // how many of them the operating system has
	synced  int // how many of them are on stable storage
}

const (
	chunkSize = 256 << 10
	// mostSpare is how many chunks are kept for later.
	mostSpare = 16
	// fsyncPatience is twice the period of the caller's Syncs, so that it only shows on a disk that
	// does not keep up.
	fsyncPatience = 2 * time.Second
	// rangeSize is after how many bytes the operating system is told to begin to store what was written.
	rangeSize = 512 << 10
)

// Config says where a log lies, and which callbacks it has.
type Config struct {
	FS   vfs.FS
	Dir  string // of the segments; the marks lie beside it
	Mode Mode
	// Unsynced is how many bytes that are not on stable storage may be kept in memory: with more,
	// writes wait for an fsync, in every mode.
	Unsynced int64
	// Failing is called when Failed begins to return an error. It must not block.
	Failing func()
	// Look is called by the goroutine that writes, once as much has been written as LookOnce says.
	Look func()
	// FailedBefore tells that a log of an earlier version had failed.
	FailedBefore bool
	Opened       time.Time
	// Mark is a batch whose entries go into the first record that is appended.
	Mark []byte
}

// Append takes a record into memory: a batch, and what another one has, if there is one, behind that. Both are
// copied. It returns the number of the record, or why the log cannot be relied on: then nothing was appended.
func (l *Log) Append(batch, more []byte) (uint64, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure != nil {
		return 0, l.failure
	}
	n := l.next
	l.next++
	if n == l.opened+1 && len(l.cfg.Mark) > 0 {
		batch = appendRecord(nil, n, batch, l.cfg.Mark)[recordHead:]
	}
	size := recordHead + len(batch) + max(len(more)-batchHead, 0)
	c := l.newest()
	if c == nil || c.segment != l.segments[len(l.segments)-1].num || cap(c.bytes)-len(c.bytes) < size {
		c = &chunk{segment: l.segments[len(l.segments)-1].num, first: n, bytes: l.room(size)}
		l.tail = append(l.tail, c)
	}
	c.bytes = appendRecord(c.bytes, n, batch, more)
	l.unsynced += int64(size)
	return n, nil
}

func (l *Log) newest() *chunk {
	if len(l.tail) == 0 {
		return nil
	}
	return l.tail[len(l.tail)-1]
}

// room returns an empty slice with room for so many bytes.
func (l *Log) room(size int) []byte {
	if size > chunkSize {
		return make([]byte, 0, size)
	}
	if n := len(l.spare); n > 0 {
		b := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return b
	}
	return make([]byte, 0, chunkSize)
}

// Write gives the operating system all that has been appended, and does what the mode demands before
// replies leave. It returns why the log cannot be relied on, or nil.
func (l *Log) Write() error {
	if l.cfg.Mode == Always {
		return l.Sync()
	}
	for {
		l.writing.Lock()
		full := l.write()
		l.writing.Unlock()
		since := l.dirty.Load()
		late := l.cfg.Mode == EverySec && since != 0 && l.clock()-since > l.patience.Load()
		if !full {
			if late || l.holdsTooMuch() {
				return l.Sync()
			}
			return l.Failed()
		}
		l.syncing.Lock()
		l.rotate()
		l.syncing.Unlock()
	}
}

func (l *Log) holdsTooMuch() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cfg.Unsynced > 0 && l.unsynced > l.cfg.Unsynced
}

// write writes what is to be in the present segment. It reports whether records for the next one
// are waiting. The caller holds writing.
func (l *Log) write() (full bool) {
	for {
		l.mu.Lock()
		c := l.unwritten()
		if c == nil || l.failure != nil {
			l.mu.Unlock()
			return false
		}
		if l.file == nil || c.segment != l.on.num {
			l.mu.Unlock()
			return true
		}
		b := c.bytes[c.written:]
		l.mu.Unlock()
		if l.dirty.Load() == 0 {
			l.dirty.Store(l.clock())
		}
		if err := l.put(b); err != nil {
			l.fail(fmt.Errorf("write log %d: %w", l.on.num, err))
			return false
		}
		l.mu.Lock()
		c.written += len(b)
		l.mu.Unlock()
		if l.stats.written.Add(int64(len(b))) >= l.stats.lookAt.Load() {
			l.cfg.Look()
		}
		if l.handed-l.ranged >= rangeSize {
			// So that the next fsync is short.
			if _, err := l.file.SyncTo(l.handed); err != nil {
				l.fail(fmt.Errorf("sync log %d: %w", l.on.num, err))
				return false
			}
			l.ranged = l.handed
		}
	}
}

// unwritten returns the first chunk with bytes that the operating system does not have.
func (l *Log) unwritten() *chunk {
	for _, c := range l.tail {
		if c.written < len(c.bytes) {
			return c
		}
	}
	return nil
}

// put writes bytes to the present segment.
func (l *Log) put(b []byte) error {
	began := l.waits.begin(l.clock())
	n, err := l.file.Write(b)
	began.Store(0)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	l.handed += int64(n)
	return err
}

// Sync makes everything that has been appended durable, whatever the mode. It waits for the disk, and
// returns why the log cannot be relied on, or nil.
func (l *Log) Sync() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	for {
		l.writing.Lock()
		full := l.write()
		file, on, upTo := l.file, l.on, l.handed
		l.writing.Unlock()
		if !full {
			l.fsync(file, on, upTo)
			return l.Failed()
		}
		l.rotate()
	}
}

// fsync makes the first bytes of a segment durable. The caller holds syncing.
func (l *Log) fsync(file vfs.File, on segment, upTo int64) {
	start := time.Now()
	l.dirty.Store(0)
	l.mu.Lock()
	failed, all := l.failure != nil, l.next
	need := false
	for _, c := range l.tail {
		if c.segment == on.num {
			need = need || c.written > c.synced
		}
		if c.written < len(c.bytes) {
			all = min(all, c.first)
		}
	}
	written := make([]int, len(l.tail))
	for i, c := range l.tail {
		written[i] = c.written
	}
	tail := l.tail
	l.mu.Unlock()
	if failed {
		return
	}
	if need {
		began := l.waits.begin(l.clock())
		err := file.SyncData()
		began.Store(0)
		if err != nil {
			l.fail(fmt.Errorf("fsync log %d: %w", on.num, err))
			return
		}
		took := time.Since(start)
		l.stats.syncs.Add(took)
		l.stats.syncNanos.Add(int64(took))
		l.marks.write(Mark{on.num, upTo})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure != nil {
		return
	}
	for i, c := range tail {
		if c.segment == on.num {
			c.synced = max(c.synced, written[i])
		}
	}
	l.forgetSynced()
	l.stats.syncedAll(start, all-1)
}

// forgetSynced lets go of records that are on stable storage.
func (l *Log) forgetSynced() {
	n := 0
	for n < len(l.tail) && l.tail[n].synced == len(l.tail[n].bytes) {
		b := l.tail[n].bytes
		l.unsynced -= int64(len(b))
		if cap(b) == chunkSize && len(l.spare) < mostSpare {
			l.spare = append(l.spare, b[:0])
		}
		n++
	}
	l.tail = append(l.tail[:0:0], l.tail[n:]...)
}

// fail remembers the first failure since the last Recover. The log takes nothing more.
func (l *Log) fail(err error) {
	l.mu.Lock()
	first := l.failure == nil
	if first {
		l.failure = err
	}
	l.mu.Unlock()
	if first {
		store := l.marks.noteFailure()
		l.cfg.Failing()
		store()
	}
}

// SinceCut is how many bytes the log has had since the last Cut; before that, all that it has.
func (l *Log) SinceCut() int64 { return l.stats.written.Load() - l.stats.cutAt.Load() }

// End ends the log for good: it takes nothing more, and Failed returns err.
func (l *Log) End(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failure, l.ended = err, true
}

// Failed returns why the log cannot be relied on, or nil.
func (l *Log) Failed() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.failure
}

// Close closes the files. What has been appended since the last Sync is lost.
func (l *Log) Close() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	var err error
	if l.file != nil {
		err = l.closeSegment()
	}
	l.marks.close()
	return err
}

// clock is the time since the log was opened, in ns, and never 0.
func (l *Log) clock() int64 { return int64(time.Since(l.started)) + 1 }

// FailedBefore reports whether the log had failed when an earlier process ended, and was not healed. It
// stays so until ForgetFailure.
func (l *Log) FailedBefore() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.before
}

// ForgetFailure is for a caller that has noted what FailedBefore tells.
func (l *Log) ForgetFailure() error {
	l.mu.Lock()
	clear := l.before && l.failure == nil
	l.before = false
	l.mu.Unlock()
	if !clear {
		return nil
	}
	return l.ClearFailure()
}

// ClearFailure clears the mark of a failed log, durably.
func (l *Log) ClearFailure() error { return l.marks.clearFailure() }

// SetPatience changes how old, in mode everysec, what has been written may become before further
// writes wait for the fsync: for tests.
func (l *Log) SetPatience(d time.Duration) { l.patience.Store(int64(d)) }
