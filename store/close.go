package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/store/internal/refusal"
)

// Crash leaves on disk what the end of the process at this moment would: what units commit
// from then on gets ErrReadOnly or ErrUnknown and does not reach the log, and Close does not
// make up for it. Reads go on until Close, which must still follow.
func (s *Store) Crash() {
	s.wal.End(ErrCrashed)
	s.health.refusals.Set(refusal.Shutdown, ErrCrashed)
}

// Close ends the store: what has been committed is made durable, whatever the
// fsync mode. All units must have ended.
func (s *Store) Close() error {
	if s.closing.Swap(true) {
		return ErrClosed
	}
	close(s.stop)
	done := make(chan error, 1)
	go func() { done <- s.shutdown() }()
	var err error
	select {
	case err = <-done:
	case <-s.health.fatal:
		// A goroutine of Pebble's holds its locks for ever; see Fatalf. The
		// directory stays locked until the process ends.
		err = s.health.fatalError()
	}
	if err != nil {
		return fmt.Errorf("close %s: %w", s.cfg.Dir, err)
	}
	return nil
}

func (s *Store) shutdown() error {
	s.loops.Wait()
	s.pins.Close()
	s.syncs.Close()
	_ = s.wal.Sync() // Failed says it
	var errs []error
	if !s.logKeeper.emptyLog() && s.AcceptsRemovals() == nil {
		errs = append(errs, s.housekeeper.checkpointCounts())
	}
	if !errors.Is(s.wal.Failed(), ErrCrashed) {
		s.health.refusals.Set(refusal.Shutdown, ErrClosed)
	}
	errs = append(errs, s.wal.Sync()) // a log that failed before has told the waiters concerned
	close(s.written)
	s.gate.Close()
	errs = append(errs, s.db.Close(), s.wal.Close())
	s.blocks.Unref()
	s.cache.Close()
	return errors.Join(append(errs, s.lock.Close())...)
}

// closingLimits bound what Close writes to tables.
type closingLimits struct {
	// kept is how much of the log is not worth it, in bytes: the next start applies that in some hundredths of a
	// second, and not every stop leaves a small table. Default: an eighth of a memtable.
	kept int64
	// most is how many bytes of memtables and dirty lines are written; default: 128 MiB, which a disk takes in about
	// a second.
	most int64
	// time is how long Close waits for it; default: 2 s.
	time time.Duration
}

func (l *closingLimits) ensureDefaults(memTable int64) {
	if l.kept == 0 {
		l.kept = memTable / 8
	}
	if l.most == 0 {
		l.most = 128 << 20
	}
	if l.time == 0 {
		l.time = 2 * time.Second
	}
}

// emptyLog writes all that is dirty to tables and removes the log of it, so that the next start has next to nothing
// to apply again: that would cost it more processor time than this does. It reports whether it did. The counts are
// written then, too.
//
// The steps and their order are those of every removal of a segment. So a process that is killed at any step leaves
// what tables lack in the log. The log stays as it is where this might take long: where writes are refused, much is in
// memory, or time is over.
func (k *logKeeper) emptyLog() bool {
	s := k.s
	if s.cfg.InMemory || s.Writable() != nil || s.wal.SinceCut() < s.cfg.closing.kept {
		return false
	}
	late := make(chan struct{})
	defer time.AfterFunc(s.cfg.closing.time, func() { close(late) }).Stop()
	if n := int64(s.health.engineMetrics(s.db.DB).MemTable.Size) + s.cache.DirtyBytes(); n > s.cfg.closing.most {
		s.log.Info("too much is in memory to be written to tables now: the next start applies the log again", "bytes", n)
		return false
	}
	before, flushed, err := k.startFlush(late)
	if err == nil {
		err = k.awaitFlush(before, flushed, late)
	}
	if err != nil {
		s.log.Warn("writing tables failed: the next start applies the log again", "err", err)
	}
	return err == nil
}
