package wal

import (
	"time"

	"github.com/ringside-kv/ringside/internal/durations"
)

// syncedAll notes that all that had been written at a moment, so many commits, is on stable
// storage.
func (w *FS) syncedAll(at time.Time, commits int64) {
	w.lastSync.Store(at.UnixNano())
	w.syncedCommits.Store(commits)
}

// unsyncedCommits is about how many commits are not known to be on stable storage; with
// Always none is acknowledged before it is there.
func (w *FS) unsyncedCommits() int64 {
	if w.mode == Always {
		return 0
	}
	return max(w.commits.Load()-w.syncedCommits.Load(), 0)
}

// Stats returns the figures of the log.
func (w *FS) Stats() Stats {
	return Stats{
		Commits: w.commits.Load(), UnsyncedCommits: w.unsyncedCommits(),
		Fsyncs: w.syncs.Histogram(time.Duration(w.syncNanos.Load())), Bytes: w.written.Load(),
	}
}

// Stats are figures of a log since it was opened.
type Stats struct {
	Commits, UnsyncedCommits int64
	Fsyncs                   durations.Histogram
	Bytes                    int64
}

// Bytes is how many bytes have been written to the log since it was opened.
func (w *FS) Bytes() int64 { return w.written.Load() }

// LastSync returns when all that had been written was on stable storage last.
func (w *FS) LastSync() time.Time { return time.Unix(0, w.lastSync.Load()) }

// Committed counts a commit that was handed to the log.
func (w *FS) Committed() { w.commits.Add(1) }

// Stalled is for how long the log has waited for the disk; 0 if nothing waits.
func (w *FS) Stalled() time.Duration { return w.waits.longest(w.clock()) }

// Current returns the number of the current log, and how many of its bytes were written and
// are on stable storage: for tests.
func (w *FS) Current() (num uint64, written, synced int64) {
	w.mu.Lock()
	f := w.current
	w.mu.Unlock()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.num, f.written.Load(), f.synced
}

// LookOnce has look called once so many bytes have been written to the log since it was opened.
func (w *FS) LookOnce(at int64) { w.lookAt.Store(at) }
