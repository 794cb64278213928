package wal

import (
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/internal/durations"
)

// figures are those of a log since it was opened.
type figures struct {
	syncs     durations.Counts // real fsyncs
	syncNanos atomic.Int64
	written   atomic.Int64 // bytes
	lookAt    atomic.Int64 // of them
	cutAt     atomic.Int64 // of them, at the last Cut; negative by what the log had when it was opened
	lastSync  atomic.Int64 // when all that had been written was on stable storage last
	// syncedUpTo is the number of the record up to which all were on stable storage then.
	syncedUpTo atomic.Uint64
}

// syncedAll notes that all records up to one, those of a moment, are on stable storage.
func (f *figures) syncedAll(at time.Time, upTo uint64) {
	f.lastSync.Store(at.UnixNano())
	f.syncedUpTo.Store(upTo)
}

// Stats are figures of a log since it was opened.
type Stats struct {
	Commits, UnsyncedCommits int64
	Fsyncs                   durations.Histogram
	Bytes                    int64
}

// Stats returns the figures of the log. With Always none is acknowledged before it is on stable
// storage.
func (l *Log) Stats() Stats {
	l.mu.Lock()
	last := l.next - 1
	l.mu.Unlock()
	s := Stats{
		Commits: int64(last - l.opened), UnsyncedCommits: max(int64(last)-int64(l.stats.syncedUpTo.Load()), 0),
		Fsyncs: l.stats.syncs.Histogram(time.Duration(l.stats.syncNanos.Load())), Bytes: l.stats.written.Load(),
	}
	if l.cfg.Mode == Always {
		s.UnsyncedCommits = 0
	}
	return s
}

// Bytes is how many bytes have been written to the log since it was opened.
func (l *Log) Bytes() int64 { return l.stats.written.Load() }

// Unsynced is how many bytes are not known to be on stable storage.
func (l *Log) Unsynced() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.unsynced
}

// LastSync returns when all that had been written was on stable storage last.
func (l *Log) LastSync() time.Time { return time.Unix(0, l.stats.lastSync.Load()) }

// Stalled is for how long the log has waited for the disk; 0 if nothing waits.
func (l *Log) Stalled() time.Duration { return l.waits.longest(l.clock()) }

// Current returns the number of the newest segment on disk, and how many of its bytes were written: for
// tests.
func (l *Log) Current() (num uint64, written int64) {
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.on.num, l.handed
}

// LookOnce has Look called once so many bytes have been written to the log since it was opened.
func (l *Log) LookOnce(at int64) { l.stats.lookAt.Store(at) }
