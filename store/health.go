package store

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/layout"
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

// Writable returns nil, or an error that wraps ErrReadOnly and says why no write
// is accepted.
func (s *Store) Writable() error {
	if p := s.writeRefusal.Load(); p != nil {
		return *p
	}
	return nil
}

// AcceptsRemovals is Writable for what only removes: it is accepted until half of the reserve of
// free space is used up. The other half is left to flushes, compactions and the log of the
// cluster's table, without which nothing that is removed gives space back.
func (s *Store) AcceptsRemovals() error {
	if p := s.removalRefusal.Load(); p != nil {
		return *p
	}
	return nil
}

// refusalFor returns nil, or why a write is not accepted that only removes, or does more.
func (s *Store) refusalFor(frees bool) error {
	if frees {
		return s.AcceptsRemovals()
	}
	return s.Writable()
}

// SetMinFreeDisk changes the free space, in bytes, below which writes are refused.
func (s *Store) SetMinFreeDisk(n int64) {
	s.minFreeDisk.Store(n)
	s.checkDisk()
}

// MinFreeDisk returns the free space, in bytes, below which writes are refused.
func (s *Store) MinFreeDisk() int64 { return s.minFreeDisk.Load() }

// refuse sets (err != nil) or clears one reason to refuse writes.
func (s *Store) refuse(t refusalReason, err error) {
	s.reasonsMu.Lock()
	defer s.reasonsMu.Unlock()
	s.refuseLocked(t, err)
}

// updateLogRefusal brings the trouble with the log up to date. It is called after each
// change of that; the order of the calls does not matter.
func (s *Store) updateLogRefusal() {
	s.reasonsMu.Lock()
	defer s.reasonsMu.Unlock()
	s.refuseLocked(reasonLog, s.wal.Failed())
}

// refuseLocked does as refuse does; the caller holds reasonsMu.
func (s *Store) refuseLocked(t refusalReason, err error) {
	before := s.reasons[t]
	s.reasons[t] = err
	switch {
	case before == nil && err != nil && t != reasonShutdown:
		s.log.Error("writes are refused", "err", err)
	case before != nil && err == nil:
		s.log.Info("recovered", "from", before)
	}
	var any, stuck *error // the first ones
	for i, err := range slices.Backward(s.reasons[:]) {
		if err != nil {
			refusal := fmt.Errorf("%w: %w", ErrReadOnly, err)
			any = &refusal
			if refusalReason(i) != reasonDiskLow {
				stuck = &refusal
			}
		}
	}
	s.writeRefusal.Store(any)
	s.removalRefusal.Store(stuck)
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
		s.checkDisk()
		s.reasonsMu.Lock()
		s.refuseDamaged()
		s.reasonsMu.Unlock()
		if s.isRecoverable() {
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
func (s *Store) checkDisk() {
	s.diskMu.Lock()
	defer s.diskMu.Unlock()
	var short, full error
	next := int64(math.MaxInt64)
	if reserve := s.minFreeDisk.Load(); reserve > 0 {
		usage, err := s.cfg.FS.GetDiskUsage(s.cfg.Dir)
		if err == nil {
			next = s.wal.Bytes() + max((int64(min(usage.AvailBytes, math.MaxInt64))-reserve)/8, minCheckBytes)
		}
		switch {
		case errors.Is(err, vfs.ErrUnsupported):
		case err != nil:
			short = fmt.Errorf("free space of %s: %w", s.cfg.Dir, err)
		case usage.AvailBytes < uint64(reserve):
			short = fmt.Errorf("disk almost full: %d MiB free, %d MiB are kept in reserve (min-free-disk); "+
				"commands that only remove are accepted", usage.AvailBytes>>20, reserve>>20)
			// What a merge takes that frees more is not held against removals.
			room := usage.AvailBytes + uint64(s.reclaim.result.Load())
			if room < uint64(reserve)/2 || usage.AvailBytes < uint64(reserve)/reclaimLeaves {
				short = fmt.Errorf("disk full: %d MiB free, %d MiB are kept in reserve (min-free-disk), half of it for flushes "+
					"and compactions: free space on the disk, or lower min-free-disk", usage.AvailBytes>>20, reserve>>20)
				full = short
			}
		}
	}
	s.wal.LookOnce(next)
	s.reasonsMu.Lock()
	s.refuseLocked(reasonDiskFull, full)
	s.refuseLocked(reasonDiskLow, short)
	s.reasonsMu.Unlock()
	if short != nil {
		signal(s.reclaim.wake)
	}
}

// isRecoverable reports whether there is trouble that recoverWrites may end. On a full disk it
// would make things worse: to Pebble, a failure to write its manifest is final.
func (s *Store) isRecoverable() bool {
	if s.wal.Failed() == nil && !s.isRefusedFor(reasonTables) ||
		s.isRefusedFor(reasonDiskFull) || s.isRefusedFor(reasonFatal) || s.isRefusedFor(reasonShutdown) {
		return false
	}
	usage, err := s.cfg.FS.GetDiskUsage(s.cfg.Dir)
	return err != nil || usage.AvailBytes > 2*uint64(s.cfg.MemTable)
}

// recoverWrites writes out the memtables, which hold all that a failed log was there for,
// and begins a new log.
//
// The new log is created by a second flush, when everything before it is in tables
// already: a crash must not leave a log behind the torn end of the failed one,
// which Pebble would call damage, rightly.
func (s *Store) recoverWrites() error {
	if err := s.flushTables(); err != nil {
		return err
	}
	if s.wal.Failed() != nil {
		s.wal.Reopen()
		if err := s.flushTables(); err != nil {
			return err
		}
		// Nobody is told to go on before the new log has taken something.
		if err := s.db.Set(probeKey, nil, pebble.Sync); err != nil {
			return fmt.Errorf("write to the new log: %w", err)
		}
		s.wal.Sync()
		if !s.wal.Recover() {
			return errors.New("the new log failed, too")
		}
		s.syncs.MarkAllDurable()
		if !s.LogFailed() {
			if err := s.wal.ClearFailure(); err != nil {
				s.log.Warn("storing the state of the log failed: if the process is killed, its last writes count as lost", "err", err)
			}
		}
		s.updateLogRefusal()
	}
	s.refuse(reasonTables, nil)
	return nil
}

var probeKey = []byte{layout.KindMeta, 'p', 'r', 'o', 'b', 'e'}

var errStopped = errors.New("store is stopping")

// flushTables begins a new log and waits until everything committed before is in
// tables.
func (s *Store) flushTables() error {
	s.commits.Lock()
	flushed, err := s.db.AsyncFlush()
	s.commits.Unlock()
	if err != nil {
		return fmt.Errorf("write out memtables: %w", err)
	}
	select {
	case <-flushed:
		return nil
	case <-s.stop:
	case <-s.fatal:
	}
	return errStopped
}

// signal leaves a value in a channel with room for one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it has one
	}
}

func (s *Store) isRefusedFor(t refusalReason) bool {
	s.reasonsMu.Lock()
	defer s.reasonsMu.Unlock()
	return s.reasons[t] != nil
}

// isRefusedForDamageOnly reports whether writes are refused for damage in tables alone.
func (s *Store) isRefusedForDamageOnly() bool {
	s.reasonsMu.Lock()
	defer s.reasonsMu.Unlock()
	for t, err := range s.reasons {
		if err != nil && refusalReason(t) != reasonDamage && refusalReason(t) != reasonDiskLow {
			return false
		}
	}
	return true
}

// fatalError returns why Pebble has stopped for good.
func (s *Store) fatalError() error {
	s.reasonsMu.Lock()
	defer s.reasonsMu.Unlock()
	return s.reasons[reasonFatal]
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
	l.s.refuse(reasonFatal, err)
	l.s.fatalOnce.Do(func() { close(l.s.fatal) })
	select {}
}

// listener keeps track of flushes and compactions. Pebble calls it with its lock
// held.
func (s *Store) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: s.tablesFailed,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			s.log.Error("damaged table found", "path", info.Path, "err", info.Details.Error())
			s.damage.Add(info.Bounds.Start, info.Bounds.End.Key)
		},
		FlushEnd:      func(info pebble.FlushInfo) { s.tablesWritten(info.Err) },
		CompactionEnd: func(info pebble.CompactionInfo) { s.tablesWritten(info.Err) },
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			s.stalls.Add(1)
			s.log.Debug("writes wait for the disk", "reason", info.Reason)
		},
	}
}

// maxFlushFailures is how often a flush may fail before opening the store does.
const maxFlushFailures = 5

// tablesFailed notes that a flush or a compaction failed.
func (s *Store) tablesFailed(err error) {
	if s.files.TablesFailed() == maxFlushFailures {
		select {
		case s.openFailed <- err:
		default: // only while the store is being opened does anybody listen
		}
	}
	if pebble.IsCorruptionError(err) {
		s.noteDamage(fmt.Errorf("%w: tables cannot be merged: %s: %w", ErrDamaged, damage.Cure, err))
		return
	}
	s.refuse(reasonTables, fmt.Errorf("write tables: %w", err))
}

// noteDamage notes that damage keeps tables from being merged. Until they are too many
// nothing is lost by going on: so whoever can get rid of the damage has some time for it.
func (s *Store) noteDamage(err error) {
	s.reasonsMu.Lock()
	defer s.reasonsMu.Unlock()
	if s.damageErr == nil {
		s.damageErr, s.damageSince = err, time.Now()
		if s.cfg.DamageGrace > 0 {
			s.log.Error("writes will be refused if the damage stays", "in", s.cfg.DamageGrace, "err", err)
		}
	}
	s.refuseDamaged()
}

// refuseDamaged refuses writes once the grace is over; reasonsMu is held.
func (s *Store) refuseDamaged() {
	if s.damageErr != nil && s.reasons[reasonDamage] == nil && time.Since(s.damageSince) >= s.cfg.DamageGrace {
		s.refuseLocked(reasonDamage, s.damageErr)
	}
}

// damageRemoved notes that damage has been cut out of the tables. If there is more, it will be
// met again.
func (s *Store) damageRemoved() {
	s.reasonsMu.Lock()
	defer s.reasonsMu.Unlock()
	s.damageErr = nil
	s.refuseLocked(reasonDamage, nil)
}

// tablesWritten notes that a flush or a compaction succeeded, if err is nil.
func (s *Store) tablesWritten(err error) {
	if err == nil {
		s.files.TablesWritten()
		s.refuse(reasonTables, nil)
	}
}
