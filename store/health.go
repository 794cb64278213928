package store

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/files"
	"github.com/ringside-kv/ringside/store/internal/reclaim"
	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/stall"
	"github.com/ringside-kv/ringside/store/internal/wal"
)

// health is what the store knows of its disk, its log and its tables, and whether it accepts writes.
// Its methods may be called from any goroutine.
type health struct {
	cfg     *Config
	log     *slog.Logger
	wal     *wal.Log        // set once, while the store is opened
	files   *files.PebbleFS // likewise
	reclaim *reclaim.Reclaimer

	refusals    refusal.Reasons
	minFreeDisk atomic.Int64 // bytes; 0: no reserve
	diskMu      sync.Mutex   // of checkDisk
	damage      damage.List
	merges      damage.Merges
	fatal       chan struct{} // closed by noteFatal
	fatalOnce   sync.Once
	openFailed  chan error   // has an error once flushes failed again and again; openPebble reads it
	stalls      atomic.Int64 // how often writes had to wait for the disk
}

func (h *health) init(cfg *Config) {
	h.cfg, h.log = cfg, cfg.Logger
	h.refusals.Init(cfg.Logger)
	h.fatal, h.openFailed = make(chan struct{}), make(chan error, 1)
	h.merges.Init(cfg.DamageGrace, &h.refusals, h.log)
	h.minFreeDisk.Store(cfg.MinFreeDisk)
}

// Writable returns nil, or an error that wraps ErrReadOnly and says why no write
// is accepted.
func (h *health) Writable() error { return h.refusals.Writes() }

// AcceptsRemovals is Writable for what only removes: it is accepted until half of the reserve of
// free space is used up. The other half is left to flushes, compactions and the log of the
// cluster's table, without which nothing that is removed gives space back.
func (h *health) AcceptsRemovals() error { return h.refusals.Removals() }

// refusalFor returns nil, or why a write is not accepted that only removes, or does more.
func (h *health) refusalFor(frees bool) error {
	if frees {
		return h.AcceptsRemovals()
	}
	return h.Writable()
}

// SetMinFreeDisk changes the free space, in bytes, below which writes are refused.
func (h *health) SetMinFreeDisk(n int64) {
	h.minFreeDisk.Store(n)
	h.checkDisk()
}

// MinFreeDisk returns the free space, in bytes, below which writes are refused.
func (h *health) MinFreeDisk() int64 { return h.minFreeDisk.Load() }

// logChanged is called after each change of the trouble with the log.
func (h *health) logChanged() { h.refusals.Update(refusal.Log, h.wal.Failed) }

// readFailed says what a failed read means for the store.
func (s *Store) readFailed(err error) error {
	if pebble.IsCorruptionError(err) {
		s.log.Error("damaged data found", "err", err)
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("read: %w", err)
}

// healthLoop looks after the disk and the log until the store is closed.
func (s *Store) healthLoop() {
	tick := time.NewTicker(s.cfg.healthPeriod)
	defer tick.Stop()
	for {
		s.health.checkDisk()
		s.health.merges.Refuse()
		if s.health.isRecoverable() {
			if err := s.recoverLog(); err != nil && !s.isStopping() {
				s.log.Error("recovery failed, trying again", "err", err)
			}
			signal(s.logKeeper.full) // writes out tables, which may take as long as the disk wants
		}
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
	}
}

// minCheckBytes is how many bytes are at least written to the log between two looks at the disk.
const minCheckBytes = 1 << 20

// checkDisk looks at the free space. The next look comes with the next tick, or once so much
// was written that the reserve may be in use: each byte is written to the log, then to
// tables, and again when those are merged.
//
// Looks come from several goroutines. One at a time reads the free space and says what
// follows, so that no earlier reading replaces a later one.
func (h *health) checkDisk() {
	h.diskMu.Lock()
	defer h.diskMu.Unlock()
	var short, full error
	next := int64(math.MaxInt64)
	if reserve := h.minFreeDisk.Load(); reserve > 0 {
		usage, err := h.cfg.FS.GetDiskUsage(h.cfg.Dir)
		if err == nil {
			next = h.wal.Bytes() + max((int64(min(usage.AvailBytes, math.MaxInt64))-reserve)/8, minCheckBytes)
		}
		switch {
		case errors.Is(err, vfs.ErrUnsupported):
		case err != nil:
			short = fmt.Errorf("free space of %s: %w", h.cfg.Dir, err)
		case usage.AvailBytes < uint64(reserve):
			short = fmt.Errorf("disk almost full: %d MiB free, %d MiB are kept in reserve (min-free-disk); "+
				"commands that only remove are accepted", usage.AvailBytes>>20, reserve>>20)
			// What a merge takes that frees more is not held against removals.
			room := usage.AvailBytes + uint64(h.reclaim.Result())
			if room < uint64(reserve)/2 || usage.AvailBytes < uint64(reserve)/reclaim.Leaves {
				short = fmt.Errorf("disk full: %d MiB free, %d MiB are kept in reserve (min-free-disk), half of it for flushes "+
					"and compactions: free space on the disk, or lower min-free-disk", usage.AvailBytes>>20, reserve>>20)
				full = short
			}
		}
	}
	h.wal.LookOnce(next)
	h.refusals.Set(refusal.DiskFull, full)
	h.refusals.Set(refusal.DiskLow, short)
	if short != nil {
		h.reclaim.Wake()
	}
}

// DiskUsage returns the free space and the size of the disk that has the data, in bytes.
func (h *health) DiskUsage() (free, total uint64, err error) {
	usage, err := h.cfg.FS.GetDiskUsage(h.cfg.Dir)
	return usage.AvailBytes, usage.TotalBytes, err
}

// isRecoverable reports whether there is trouble that may be ended. On a full disk it
// would make things worse: to Pebble, a failure to write its manifest is final.
func (h *health) isRecoverable() bool {
	if h.wal.Failed() == nil && !h.isRefusedFor(refusal.Tables) ||
		h.isRefusedFor(refusal.DiskFull) || h.isRefusedFor(refusal.Fatal) || h.isRefusedFor(refusal.Shutdown) {
		return false
	}
	usage, err := h.cfg.FS.GetDiskUsage(h.cfg.Dir)
	return err != nil || usage.AvailBytes > 2*uint64(h.cfg.MemTable)
}

// recoverLog begins a new segment of a log that has failed.
//
// It waits for no commit: one that has been accepted may wait for a memtable to be written out, and no table is
// complete before the log has recovered. A commit is in the log before it has a number, and none is appended
// after the failure. So the new segment has all commits with a number up to the last of before.
func (s *Store) recoverLog() error {
	if s.wal.Failed() == nil {
		return nil
	}
	last := s.syncs.LastQueued()
	if err := s.wal.Recover(); err != nil {
		return fmt.Errorf("begin a new log: %w", err)
	}
	s.syncs.MarkDurable(last)
	if !s.LogFailed() {
		if err := s.wal.ClearFailure(); err != nil {
			s.log.Warn("storing the state of the log failed: if the process is killed, its last writes count as lost", "err", err)
		}
	}
	s.health.logChanged()
	return nil
}

// flushTables waits until everything committed before is in tables, and removes its log. It returns an error when
// the log fails meanwhile.
func (s *Store) flushTables() error {
	before, flushed, err := s.logKeeper.startFlush(s.stop)
	if err != nil {
		return err
	}
	return s.logKeeper.awaitFlush(before, flushed, s.stop)
}

// newReclaimer returns what merges tables while the disk is short.
func (s *Store) newReclaimer() *reclaim.Reclaimer {
	h := &s.health
	return reclaim.New(reclaim.Config{
		FS: s.cfg.FS, Dir: s.cfg.Dir, Log: s.log,
		Live:     func(slice uint16) int64 { return s.counts.Of(slice).Bytes },
		Reserve:  h.minFreeDisk.Load,
		IsNeeded: func() bool { return h.isRefusedFor(refusal.DiskLow) && h.AcceptsRemovals() == nil },
		Flush:    s.flushTables, Look: h.checkDisk, Fatal: h.fatal, Stop: s.stop,
	})
}

// signal leaves a value in a channel with room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has one
	}
}

func (h *health) isRefusedFor(t refusal.Reason) bool { return h.refusals.Of(t) != nil }

// noteFatal notes that Pebble has stopped for good.
func (h *health) noteFatal(err error) {
	h.refusals.Set(refusal.Fatal, err)
	h.fatalOnce.Do(func() { close(h.fatal) })
}

// applyFailed gives Pebble up, which has refused what the log has: the next start applies it again.
func (h *health) applyFailed(err error) error {
	if h.fatalError() == nil {
		h.noteFatal(fmt.Errorf("storage engine refuses what the log has, restart needed: %w", err))
	}
	return fmt.Errorf("%w: %w", ErrUnknown, err)
}

// fatalError returns why Pebble has stopped for good.
func (h *health) fatalError() error { return h.refusals.Of(refusal.Fatal) }

// listener keeps track of flushes and compactions. Pebble calls it with its lock
// held.
func (h *health) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: h.tablesFailed,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			h.log.Error("damaged table found", "path", info.Path, "err", info.Details.Error())
			h.damage.Add(info.Bounds.Start, info.Bounds.End.Key)
		},
		FlushEnd:        func(info pebble.FlushInfo) { h.tablesWritten(info.Err) },
		CompactionBegin: func(info pebble.CompactionInfo) { h.merges.Begin(info.JobID) },
		CompactionEnd:   func(info pebble.CompactionInfo) { h.compactionEnded(info.JobID, info.Err) },
	}
}

// stallConfig says when commits wait since tables are written more slowly than memtables fill.
func (h *health) stallConfig(db *pebble.DB, stop <-chan struct{}) stall.Config {
	return stall.Config{
		MemTable: h.cfg.MemTable, Metrics: func() *pebble.Metrics { return h.engineMetrics(db) },
		Refusal: h.refusalFor, Stalls: &h.stalls, Log: h.log, Stop: stop,
	}
}

// maxFlushFailures is how often a flush may fail before opening the store does.
const maxFlushFailures = 5

// tablesFailed notes that a flush or a compaction failed.
func (h *health) tablesFailed(err error) {
	if h.files.TablesFailed() == maxFlushFailures {
		select {
		case h.openFailed <- err:
		default: // it is read only while the store is being opened
		}
	}
	if !pebble.IsCorruptionError(err) { // see damage.Merges
		h.refusals.Set(refusal.Tables, fmt.Errorf("write tables: %w", err))
	}
}

func (h *health) compactionEnded(job int, err error) {
	h.tablesWritten(err)
	if !pebble.IsCorruptionError(err) {
		err = nil
	}
	h.merges.End(job, err)
}

// tablesWritten notes that a flush or a compaction succeeded, if err is nil.
func (h *health) tablesWritten(err error) {
	if err == nil {
		h.files.TablesWritten()
		h.refusals.Set(refusal.Tables, nil)
	}
}
