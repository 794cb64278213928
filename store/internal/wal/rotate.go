package wal

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/store/internal/files"
)

// rotate begins the segment that the next record is to be in. The caller holds syncing.
func (l *Log) rotate() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if !l.write() {
		return // another goroutine was first, or the log has failed
	}
	if l.file != nil {
		l.fsync(l.file, l.on, l.handed)
		if l.Failed() != nil {
			return
		}
		if err := l.closeSegment(); err != nil {
			l.fail(err)
			return
		}
	}
	l.mu.Lock()
	num := l.unwritten().segment
	var next segment
	for _, s := range l.segments {
		if s.num == num {
			next = s
		}
	}
	l.mu.Unlock()
	if err := l.create(next); err != nil {
		l.fail(err)
	}
}

// create makes a segment the present one. The caller holds writing.
func (l *Log) create(s segment) (err error) {
	began := l.waits.begin(l.clock())
	defer began.Store(0)
	f, err := l.cfg.FS.Create(l.cfg.FS.PathJoin(l.cfg.Dir, s.name()), category)
	if err != nil {
		return fmt.Errorf("create log %d: %w", s.num, err)
	}
	head := s.head()
	n, err := f.Write(head)
	if err == nil && n < len(head) {
		err = io.ErrShortWrite
	}
	if err == nil {
		err = files.SyncDir(l.cfg.FS, l.cfg.Dir)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("create log %d: %w", s.num, err), f.Close())
	}
	l.file, l.on, l.handed, l.ranged = f, s, int64(len(head)), int64(len(head))
	return nil
}

const category vfs.DiskWriteCategory = "ringside-wal"

func (l *Log) closeSegment() error {
	f := l.file
	l.file = nil
	if err := f.Close(); err != nil {
		return fmt.Errorf("close log %d: %w", l.on.num, err)
	}
	return nil
}

// Cut lets the next record begin a segment, and returns its number: what is before may be dropped once
// it is in tables.
func (l *Log) Cut() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := l.segments[len(l.segments)-1]; last.first < l.next {
		l.segments = append(l.segments, segment{last.num + 1, l.next})
	}
	l.stats.cutAt.Store(l.stats.written.Load())
	return l.next
}

// Drop removes the segments that have only records before one. These must be in tables, durably.
func (l *Log) Drop(before uint64) error {
	l.dropping.Lock()
	defer l.dropping.Unlock()
	for {
		l.mu.Lock()
		if len(l.segments) < 2 || l.segments[1].first > before {
			l.mu.Unlock()
			return nil
		}
		s := l.segments[0]
		l.mu.Unlock()
		if err := l.marks.clear(s.num); err != nil {
			return err
		}
		if err := l.cfg.FS.Remove(l.cfg.FS.PathJoin(l.cfg.Dir, s.name())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("remove log %d: %w", s.num, err)
		}
		l.mu.Lock()
		l.segments = l.segments[1:]
		l.mu.Unlock()
	}
}
