package wal

import (
	"fmt"
	"time"
)

// Recover begins a segment with everything that is not known to be on stable storage. If it returns
// nil, all that has been appended is there, and the log can be relied on.
func (l *Log) Recover() error {
	l.syncing.Lock()
	defer l.syncing.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	if l.failure == nil || l.ended {
		defer l.mu.Unlock()
		return l.failure
	}
	s := segment{l.segments[len(l.segments)-1].num + 1, l.next}
	if len(l.tail) > 0 {
		s.first = l.tail[0].first
	}
	l.segments = append(l.segments, s)
	for _, c := range l.tail {
		c.segment, c.written, c.synced = s.num, 0, 0
	}
	l.mu.Unlock()
	if l.file != nil {
		_ = l.closeSegment() // what it has is of no account
	}
	err := l.create(s)
	if err == nil {
		err = l.fillSegment()
	}
	if err == nil {
		return nil
	}
	if l.file != nil {
		_ = l.closeSegment()
	}
	// On a full disk there may be many attempts.
	_ = l.cfg.FS.Remove(l.cfg.FS.PathJoin(l.cfg.Dir, s.name()))
	return err
}

// fillSegment writes and syncs all records to a segment that was begun after a failure. The caller
// holds syncing and writing.
func (l *Log) fillSegment() error {
	for {
		l.mu.Lock()
		c := l.unwritten()
		if c == nil {
			break
		}
		b := c.bytes[c.written:]
		l.mu.Unlock()
		if err := l.put(b); err != nil {
			return fmt.Errorf("write log %d: %w", l.on.num, err)
		}
		l.stats.written.Add(int64(len(b)))
		l.mu.Lock()
		c.written += len(b)
		l.mu.Unlock()
	}
	upTo, all := l.handed, l.next-1
	tail := l.tail
	written := make([]int, len(tail))
	for i, c := range tail {
		written[i] = c.written
	}
	l.mu.Unlock()
	start := time.Now()
	began := l.waits.begin(l.clock())
	err := l.file.SyncData()
	began.Store(0)
	if err != nil {
		return fmt.Errorf("fsync log %d: %w", l.on.num, err)
	}
	l.marks.write(Mark{l.on.num, upTo})
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return l.failure
	}
	for i, c := range tail {
		c.synced = written[i]
	}
	l.forgetSynced()
	l.failure = nil
	l.stats.syncedAll(start, all)
	return nil
}
