package store

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// A store refuses writes while something keeps it from making them durable, and
// goes on answering reads. The reasons are independent of one another; writes are
// accepted again when none is left.
type trouble uint8

const (
	troubleDisk     trouble = iota // too little free space
	troubleLog                     // the write-ahead log failed; healed by writing out the memtables
	troubleTables                  // a flush or compaction failed; healed by the next that succeeds
	troubleFatal                   // Pebble cannot go on; only a restart helps
	troubleDamage                  // a table is damaged
	troubleShutdown                // the store is being closed
	troubleCount
)

// healPeriod is how often the store looks at the disk and tries to recover.
const healPeriod = time.Second

// Writable returns nil, or an error that wraps ErrReadOnly and says why no write
// is accepted.
func (s *Store) Writable() error {
	if p := s.refusal.Load(); p != nil {
		return *p
	}
	return nil
}

// trouble sets (err != nil) or clears one reason to refuse writes.
func (s *Store) trouble(t trouble, err error) {
	s.troubleMu.Lock()
	defer s.troubleMu.Unlock()
	before := s.troubles[t]
	s.troubles[t] = err
	switch {
	case before == nil && err != nil && t != troubleShutdown:
		s.log.Error("writes are refused", "err", err)
	case before != nil && err == nil:
		s.log.Info("recovered", "from", before)
	}
	for _, err := range s.troubles {
		if err != nil {
			refusal := fmt.Errorf("%w: %w", ErrReadOnly, err)
			s.refusal.Store(&refusal)
			return
		}
	}
	s.refusal.Store(nil)
}

// readFailed says what a failed read means for the store.
func (s *Store) readFailed(err error) error {
	if pebble.IsCorruptionError(err) {
		s.log.Error("damaged data", "err", err)
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return fmt.Errorf("read: %w", err)
}

// healLoop runs until the store is closed.
func (s *Store) healLoop() {
	tick := time.NewTicker(healPeriod)
	defer tick.Stop()
	for {
		s.checkDisk()
		s.healLog()
		select {
		case <-s.stop:
			return
		case <-tick.C:
		}
		if s.cfg.Fsync == FsyncEverySec {
			s.wal.tick()
		}
		s.cache.clock.Add(1)
	}
}

func (s *Store) checkDisk() {
	if s.cfg.MinFreeDisk == 0 {
		return
	}
	usage, err := s.cfg.FS.GetDiskUsage(s.cfg.Dir)
	switch {
	case errors.Is(err, vfs.ErrUnsupported):
	case err != nil:
		s.trouble(troubleDisk, fmt.Errorf("free space of %s: %w", s.cfg.Dir, err))
	case usage.AvailBytes < uint64(s.cfg.MinFreeDisk):
		s.trouble(troubleDisk, fmt.Errorf("disk almost full: %d MiB free, %d MiB are kept in reserve",
			usage.AvailBytes>>20, s.cfg.MinFreeDisk>>20))
	default:
		s.trouble(troubleDisk, nil)
	}
}

// healLog replaces a failed log: it writes out the memtables, which hold all that
// the log was there for, and with that begins a new log.
func (s *Store) healLog() {
	if s.wal.failed() == nil || s.isTroubled(troubleDisk) || s.isTroubled(troubleFatal) || !s.settler.idle() {
		return
	}
	if err := s.db.Flush(); err != nil {
		s.log.Error("write out memtables", "err", err)
		return
	}
	if s.wal.heal() {
		s.settler.heal()
		s.trouble(troubleLog, nil)
	}
}

func (s *Store) isTroubled(t trouble) bool {
	s.troubleMu.Lock()
	defer s.troubleMu.Unlock()
	return s.troubles[t] != nil
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
	l.s.trouble(troubleFatal, err)
	l.s.fatalOnce.Do(func() { close(l.s.fatal) })
	select {}
}

// listener keeps track of flushes and compactions.
func (s *Store) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: func(err error) {
			if pebble.IsCorruptionError(err) {
				s.trouble(troubleDamage, err)
				return
			}
			s.trouble(troubleTables, fmt.Errorf("write tables: %w", err))
		},
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			s.log.Error("damaged table", "path", info.Path, "err", info.Details)
		},
		FlushEnd: func(info pebble.FlushInfo) {
			if info.Err == nil {
				s.trouble(troubleTables, nil)
			}
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			s.stalls.Add(1)
			s.log.Debug("writes wait for the disk", "reason", info.Reason)
		},
	}
}
