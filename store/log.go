package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
	"github.com/ringside-kv/ringside/store/internal/wal"
)

// A logKeeper opens the log of a store, and keeps it short.
type logKeeper struct {
	s *Store
	// full has something when the log has grown so much that its beginning is to be removed, or tables could
	// not be written.
	full chan struct{}
	// late has something when much is not on stable storage.
	late chan struct{}
}

// open opens the log, and checks that of an earlier version, which Pebble is about to read.
func (k *logKeeper) open(dir string) error {
	s, fs := k.s, k.s.cfg.FS
	extra, failed, err := wal.VerifyPebbleLogs(fs, dir)
	if err != nil {
		return err
	}
	log, more, err := wal.Open(wal.Config{
		FS: fs, Dir: dir, Mode: s.cfg.Fsync, Unsynced: logTail * s.cfg.MemTable, FailedBefore: failed,
		Failing: s.health.logChanged, Look: s.health.checkDisk, Opened: s.openedAt,
		Mark: counts.Mark(),
	})
	if err != nil {
		return err
	}
	if err := wal.ForgetPebbleLogs(fs, dir); err != nil {
		return errors.Join(err, log.Close())
	}
	if extra += more; extra > 0 {
		s.log.Info("recovering writes that were acknowledged before their fsync", "bytes", extra)
	}
	s.wal, s.health.wal = log, log
	return nil
}

// replay applies what the log has. What is in tables already is applied once more, which changes
// nothing: see [wal.Log].
func (k *logKeeper) replay() error {
	return k.s.wal.Replay(func(data []byte, first bool) error {
		if first {
			k.s.counts.SeeSegment(data)
		}
		return k.s.db.ApplyRecord(data)
	})
}

const (
	// logSize is how many memtables are written to the log before its next segment begins.
	logSize = 4
	// logTail is how many memtables the end of the log may be large that is not on stable storage, and in
	// memory therefore.
	logTail = 2
)

// write gives the operating system what has been appended to the log; see [wal.Log.Write].
func (k *logKeeper) write() error {
	s := k.s
	err := s.wal.Write()
	if s.wal.Unsynced() >= s.cfg.MemTable {
		signal(k.late)
	}
	if s.wal.SinceCut() >= logSize*s.cfg.MemTable {
		signal(k.full)
	}
	s.cleaner.Due()
	return err
}

// loop removes what the log does not need any more, and has tables written that could not be, until the store is
// closed.
func (k *logKeeper) loop() {
	s := k.s
	for {
		select {
		case <-s.stop:
			return
		case <-k.full:
		}
		if s.gate.Level0IsFull() {
			continue // while tables cannot be merged, each flush would add one
		}
		again := s.health.isRefusedFor(refusal.Tables)
		if s.wal.Failed() != nil || again && !s.health.isRecoverable() || !again && s.wal.SinceCut() < logSize*s.cfg.MemTable {
			continue
		}
		switch err := s.flushTables(); {
		case err == nil:
			s.health.refusals.Set(refusal.Tables, nil)
		case !s.isStopping():
			s.log.Error("writing out tables failed", "err", err)
		}
	}
}

// startFlush has everything committed before written to tables, and returns up to which record that is, and what is
// closed when it is there. It writes no more dirty lines once stop is closed.
func (k *logKeeper) startFlush(stop <-chan struct{}) (before uint64, flushed <-chan struct{}, err error) {
	s := k.s
	err = s.cleaner.MayWrite() // cutLog and AsyncFlush wait for Pebble's lock
	if err == nil {
		before, err = s.housekeeper.cutLog()
	}
	if err == nil {
		err = s.cleaner.CleanAll(stop)
	}
	if err == nil {
		err = s.cleaner.MayWrite()
	}
	if err == nil {
		flushed, err = s.db.AsyncFlush()
	}
	if err != nil {
		err = fmt.Errorf("write out memtables: %w", err)
	}
	return before, flushed, err
}

// awaitFlush waits until a flush has ended, and removes the log of what is in tables by then.
func (k *logKeeper) awaitFlush(before uint64, flushed, stop <-chan struct{}) error {
	s := k.s
	tick := time.NewTicker(s.cfg.healthPeriod)
	defer tick.Stop()
	for {
		select {
		case <-flushed:
			return s.wal.Drop(before)
		case <-stop:
			return cleaner.ErrStopped
		case <-s.health.fatal:
			return cleaner.ErrStopped
		case <-tick.C:
			// No table is complete before the log has recovered.
			err := s.wal.Failed()
			if err == nil && s.isStopping() {
				err = s.Writable() // tables that failed once are left to the next start
			}
			if err != nil {
				return fmt.Errorf("write out memtables: %w", err)
			}
		}
	}
}

// Fsync says what must have happened to a write before it is acknowledged.
type Fsync = wal.Mode

// The fsync modes.
const (
	// FsyncAlways: it is on stable storage.
	FsyncAlways = wal.Always
	// FsyncEverySec: the operating system has it; it reaches stable storage
	// within a second. Survives the process, not always the machine.
	FsyncEverySec = wal.EverySec
	// FsyncNo: the operating system has it, and decides when to store it.
	FsyncNo = wal.No
)

// A Waiter is told when all that a unit has written and read is as durable as
// the store's fsync mode demands, so that its replies may leave.
//
// Settled is called once, by the goroutine of the sync queue, by a [Receiver] that syncs its
// own commits, or, where a [Tap] held the reply, by who calls its Acked or Close, with nil or an
// error that wraps ErrUnknown. It must not block: every other unit's reply waits behind
// it.
type Waiter = syncqueue.Waiter

// A Signal is a Waiter for a goroutine that waits by itself. It can be used again
// after Wait.
type Signal = syncqueue.Signal

// LogFailed tells that the log had failed when an earlier process ended, and was not healed:
// what that acknowledged last, in mode everysec, may be missing. It stays so until
// ForgetLogFailure.
func (h *health) LogFailed() bool { return h.wal.FailedBefore() }

// ForgetLogFailure is for a caller that has noted what LogFailed tells.
func (h *health) ForgetLogFailure() error { return h.wal.ForgetFailure() }

// Stalled returns for how long the store's log has waited for the disk; 0 if nothing waits.
func (h *health) Stalled() time.Duration { return h.wal.Stalled() }

// LogHasFailed reports whether writes are refused since the log or the storage engine has failed, not
// since the disk is short of space.
func (h *health) LogHasFailed() bool { return h.wal.Failed() != nil || h.isRefusedFor(refusal.Fatal) }

// Sync has all that was committed before on stable storage, whatever the mode. It waits for
// the disk.
func (s *Store) Sync() error {
	err := s.wal.Sync()
	if err == nil {
		err = s.Writable()
	}
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}

// LastSync returns when everything that had been written until then was last known to
// be on stable storage.
func (h *health) LastSync() time.Time { return h.wal.LastSync() }

// Fsync returns what an acknowledged write has gone through.
func (s *Store) Fsync() Fsync { return s.cfg.Fsync }

// tickLoop makes the log durable in mode everysec, drives the cache's clock and counts passive ranges
// anew, until the store is closed. It does nothing else, so that no trouble keeps it from
// being on time.
func (s *Store) tickLoop() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-s.logKeeper.late:
			_ = s.wal.Sync() // a failure is known to all who ask
			continue
		case <-tick.C:
		}
		s.cache.SetClock(uint32(time.Since(s.openedAt) / time.Second))
		s.counts.Recount()
		if s.cfg.Fsync == FsyncEverySec {
			_ = s.wal.Sync()
		}
	}
}
