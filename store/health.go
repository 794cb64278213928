package store

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/files"
	"github.com/ringside-kv/ringside/store/internal/wal"
)

// A store refuses writes while something keeps it from making them durable, and
// goes on answering reads. The reasons are independent of one another; writes are
// accepted again when none is left.
type refusalReason uint8

const (
	reasonDiskLow  refusalReason = iota // too little free space; what only removes is accepted
	reasonDiskFull                      // too little even for that
	reasonLog                           // the write-ahead log failed; healed by writing out the memtables
	reasonTables                        // a flush or compaction failed; healed by the next that succeeds
	reasonFatal                         // Pebble cannot go on; only a restart helps
	reasonDamage                        // a table is damaged
	reasonShutdown                      // the store is being closed
	reasonCount
)

// health is what the store knows of its disk, its log and its tables, and whether it accepts writes.
// Its methods may be called from any goroutine.
type health struct {
	cfg     *Config
	log     *slog.Logger
	wal     *wal.Log        // set once, while the store is opened
	files   *files.PebbleFS // likewise
	reclaim *reclaim        // woken when the disk is short

	// writeRefusal is why no write is accepted, and removalRefusal why not even a removal is.
	writeRefusal, removalRefusal atomic.Pointer[error]
	minFreeDisk                  atomic.Int64 // bytes; 0: no reserve
	diskMu                       sync.Mutex   // of checkDisk; taken before reasonsMu
	reasonsMu                    sync.Mutex
	reasons                      [reasonCount]error
	// damageErr is why tables cannot be merged, since damageSince; guarded by reasonsMu.
	damageErr   error
	damageSince time.Time
	damage      damage.List
	fatal       chan struct{} // closed by Fatalf
	fatalOnce   sync.Once
	openFailed  chan error   // has an error once flushes failed again and again; openPebble reads it
	stalls      atomic.Int64 // how often writes had to wait for the disk
}

func (h *health) init(cfg *Config, reclaim *reclaim) {
	h.cfg, h.log, h.reclaim = cfg, cfg.Logger, reclaim
	h.fatal, h.openFailed = make(chan struct{}), make(chan error, 1)
	h.minFreeDisk.Store(cfg.MinFreeDisk)
}

// Writable returns nil, or an error that wraps ErrReadOnly and says why no write
// is accepted.
func (h *health) Writable() error {
	if p := h.writeRefusal.Load(); p != nil {
		return *p
	}
	return nil
}

// AcceptsRemovals is Writable for what only removes: it is accepted until half of the reserve of
// free space is used up. The other half is left to flushes, compactions and the log of the
// cluster's table, without which nothing that is removed gives space back.
func (h *health) AcceptsRemovals() error {
	if p := h.removalRefusal.Load(); p != nil {
		return *p
	}
	return nil
}

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

// refuse sets (err != nil) or clears one reason to refuse writes.
func (h *health) refuse(t refusalReason, err error) {
	h.reasonsMu.Lock()
	defer h.reasonsMu.Unlock()
	h.refuseLocked(t, err)
}

// updateLogRefusal brings the trouble with the log up to date. It is called after each
// change of that; the order of the calls does not matter.
func (h *health) updateLogRefusal() {
	h.reasonsMu.Lock()
	defer h.reasonsMu.Unlock()
	h.refuseLocked(reasonLog, h.wal.Failed())
}

// refuseLocked does as refuse does; the caller holds reasonsMu.
func (h *health) refuseLocked(t refusalReason, err error) {
	before := h.reasons[t]
	h.reasons[t] = err
	switch {
	case before == nil && err != nil && t != reasonShutdown:
		h.log.Error("writes are refused", "err", err)
	case before != nil && err == nil:
		h.log.Info("recovered", "from", before)
	}
	var any, stuck *error // the first ones
	for i, err := range slices.Backward(h.reasons[:]) {
		if err != nil {
			refusal := fmt.Errorf("%w: %w", ErrReadOnly, err)
			any = &refusal
			if refusalReason(i) != reasonDiskLow {
				stuck = &refusal
			}
		}
	}
	h.writeRefusal.Store(any)
	h.removalRefusal.Store(stuck)
}

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
		s.health.reasonsMu.Lock()
		s.health.refuseDamaged()
		s.health.reasonsMu.Unlock()
		if s.health.isRecoverable() {
			if err := s.recoverWrites(); err != nil && !s.isStopping() {
				s.log.Error("recovery failed, trying again", "err", err)
			}
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
			room := usage.AvailBytes + uint64(h.reclaim.result.Load())
			if room < uint64(reserve)/2 || usage.AvailBytes < uint64(reserve)/reclaimLeaves {
				short = fmt.Errorf("disk full: %d MiB free, %d MiB are kept in reserve (min-free-disk), half of it for flushes "+
					"and compactions: free space on the disk, or lower min-free-disk", usage.AvailBytes>>20, reserve>>20)
				full = short
			}
		}
	}
	h.wal.LookOnce(next)
	h.reasonsMu.Lock()
	h.refuseLocked(reasonDiskFull, full)
	h.refuseLocked(reasonDiskLow, short)
	h.reasonsMu.Unlock()
	if short != nil {
		signal(h.reclaim.wake)
	}
}

// DiskUsage returns the free space and the size of the disk that has the data, in bytes.
func (h *health) DiskUsage() (free, total uint64, err error) {
	usage, err := h.cfg.FS.GetDiskUsage(h.cfg.Dir)
	return usage.AvailBytes, usage.TotalBytes, err
}

// isRecoverable reports whether there is trouble that recoverWrites may end. On a full disk it
// would make things worse: to Pebble, a failure to write its manifest is final.
func (h *health) isRecoverable() bool {
	if h.wal.Failed() == nil && !h.isRefusedFor(reasonTables) ||
		h.isRefusedFor(reasonDiskFull) || h.isRefusedFor(reasonFatal) || h.isRefusedFor(reasonShutdown) {
		return false
	}
	usage, err := h.cfg.FS.GetDiskUsage(h.cfg.Dir)
	return err != nil || usage.AvailBytes > 2*uint64(h.cfg.MemTable)
}

// recoverWrites begins a new segment of a log that has failed, and has tables written that could not be.
func (s *Store) recoverWrites() error {
	if s.wal.Failed() != nil {
		// Whoever was accepted before the failure has appended; nobody is accepted until the end.
		s.commits.Lock()
		s.commits.Unlock() //nolint:staticcheck // an empty critical section
		if err := s.wal.Recover(); err != nil {
			return fmt.Errorf("begin a new log: %w", err)
		}
		s.syncs.MarkAllDurable()
		if !s.LogFailed() {
			if err := s.wal.ClearFailure(); err != nil {
				s.log.Warn("storing the state of the log failed: if the process is killed, its last writes count as lost", "err", err)
			}
		}
		s.health.updateLogRefusal()
	}
	if s.health.isRefusedFor(reasonTables) {
		if err := s.flushTables(); err != nil {
			return err
		}
		s.health.refuse(reasonTables, nil)
	}
	return nil
}

var errStopped = errors.New("store is stopping")

// flushTables waits until everything committed before is in tables, and removes its log. It returns an error when
// the log fails meanwhile.
func (s *Store) flushTables() error {
	before, err := s.housekeeper.cutLog()
	if err == nil {
		err = s.cleaner.clean(0, lastSlice)
	}
	var flushed <-chan struct{}
	if err == nil {
		flushed, err = s.db.AsyncFlush()
	}
	if err != nil {
		return fmt.Errorf("write out memtables: %w", err)
	}
	tick := time.NewTicker(s.cfg.healthPeriod)
	defer tick.Stop()
	for {
		select {
		case <-flushed:
			return s.wal.Drop(before)
		case <-s.stop:
			return errStopped
		case <-s.health.fatal:
			return errStopped
		case <-tick.C:
			// No table is complete before the log has recovered, for which the caller may be needed.
			if err := s.wal.Failed(); err != nil {
				return fmt.Errorf("write out memtables: %w", err)
			}
		}
	}
}

// signal leaves a value in a channel with room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has one
	}
}

func (h *health) isRefusedFor(t refusalReason) bool {
	h.reasonsMu.Lock()
	defer h.reasonsMu.Unlock()
	return h.reasons[t] != nil
}

// isRefusedForDamageOnly reports whether writes are refused for damage in tables alone.
func (h *health) isRefusedForDamageOnly() bool {
	h.reasonsMu.Lock()
	defer h.reasonsMu.Unlock()
	for t, err := range h.reasons {
		if err != nil && refusalReason(t) != reasonDamage && refusalReason(t) != reasonDiskLow {
			return false
		}
	}
	return true
}

// fatalError returns why Pebble has stopped for good.
func (h *health) fatalError() error {
	h.reasonsMu.Lock()
	defer h.reasonsMu.Unlock()
	return h.reasons[reasonFatal]
}

// pebbleLogger passes Pebble's messages on.
type pebbleLogger struct{ s *Store }

// Infof implements pebble.Logger.
func (l pebbleLogger) Infof(format string, args ...any) {
	l.s.log.Debug("pebble: " + fmt.Sprintf(format, args...))
}

// Errorf implements pebble.Logger.
func (l pebbleLogger) Errorf(format string, args ...any) {
	l.s.log.Error("pebble: " + fmt.Sprintf(format, args...))
}

// Fatalf implements pebble.Logger. Pebble calls it where it cannot go on, holding
// locks, and does not expect it to return. Reads do not need those locks; so the
// goroutine stops here, writes are refused, and everything acknowledged is there
// after a restart.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	err := fmt.Errorf("storage engine stopped, restart needed: %s", fmt.Sprintf(format, args...))
	l.s.health.refuse(reasonFatal, err)
	l.s.health.fatalOnce.Do(func() { close(l.s.health.fatal) })
	select {}
}

// listener keeps track of flushes and compactions. Pebble calls it with its lock
// held.
func (h *health) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: h.tablesFailed,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			h.log.Error("damaged table found", "path", info.Path, "err", info.Details.Error())
			h.damage.Add(info.Bounds.Start, info.Bounds.End.Key)
		},
		FlushEnd:      func(info pebble.FlushInfo) { h.tablesWritten(info.Err) },
		CompactionEnd: func(info pebble.CompactionInfo) { h.tablesWritten(info.Err) },
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			h.stalls.Add(1)
			h.log.Debug("writes wait for the disk", "reason", info.Reason)
		},
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
	if pebble.IsCorruptionError(err) {
		h.noteDamage(fmt.Errorf("%w: tables cannot be merged: %s: %w", ErrDamaged, damage.Cure, err))
		return
	}
	h.refuse(reasonTables, fmt.Errorf("write tables: %w", err))
}

// noteDamage notes that damage keeps tables from being merged. Until they are too many
// nothing is lost by going on, so there is some time to remove the damage.
func (h *health) noteDamage(err error) {
	h.reasonsMu.Lock()
	defer h.reasonsMu.Unlock()
	if h.damageErr == nil {
		h.damageErr, h.damageSince = err, time.Now()
		if h.cfg.DamageGrace > 0 {
			h.log.Error("writes will be refused if the damage stays", "in", h.cfg.DamageGrace, "err", err)
		}
	}
	h.refuseDamaged()
}

// refuseDamaged refuses writes once the grace is over; reasonsMu is held.
func (h *health) refuseDamaged() {
	if h.damageErr != nil && h.reasons[reasonDamage] == nil && time.Since(h.damageSince) >= h.cfg.DamageGrace {
		h.refuseLocked(reasonDamage, h.damageErr)
	}
}

// damageRemoved notes that damage has been cut out of the tables. If there is more, it will be
// met again.
func (h *health) damageRemoved() {
	h.reasonsMu.Lock()
	defer h.reasonsMu.Unlock()
	h.damageErr = nil
	h.refuseLocked(reasonDamage, nil)
}

// tablesWritten notes that a flush or a compaction succeeded, if err is nil.
func (h *health) tablesWritten(err error) {
	if err == nil {
		h.files.TablesWritten()
		h.refuse(reasonTables, nil)
	}
}
