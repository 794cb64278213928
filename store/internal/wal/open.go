package wal

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/store/internal/damage"
)

// Open opens the log of a directory, or begins one. What it has is on stable storage from then on, and
// Replay must come before the first Append. recovered is how many bytes there are behind the mark of the
// newest segment: writes that were acknowledged before their fsync. A segment that is missing, or
// damaged before its mark, is an error; behind the mark, damage is the torn end that a crash leaves.
func Open(cfg Config) (l *Log, recovered int64, err error) {
	l = &Log{cfg: cfg, started: time.Now(), next: 1, syncing: newTurn(), writing: newTurn(), dropping: newTurn(), marks: marks{mu: newTurn()}}
	l.patience.Store(int64(fsyncPatience))
	l.stats.lookAt.Store(math.MaxInt64)
	l.stats.lastSync.Store(cfg.Opened.UnixNano())
	path := cfg.FS.PathJoin(cfg.FS.PathDir(cfg.Dir), MarksName)
	marks, failed, found, err := readMarks(cfg.FS, path)
	if err != nil {
		return nil, 0, err
	}
	l.before = failed || cfg.FailedBefore
	recovered, last, err := l.findSegments(marks[:])
	if err != nil {
		return nil, 0, err
	}
	l.opened = l.next - 1
	l.stats.syncedUpTo.Store(l.next - 1)
	l.existing = len(l.segments)
	l.segments = append(l.segments, segment{last + 1, l.next})
	err = l.marks.open(cfg.FS, path, marks, found)
	if err == nil && cfg.FailedBefore {
		l.marks.noteFailure()()
	}
	return l, recovered, err
}

// findSegments reads all segments, and notes them and the number of the next record. last is the
// highest number of a segment.
func (l *Log) findSegments(marks []Mark) (recovered int64, last uint64, err error) {
	fs := l.cfg.FS
	names, err := fs.List(l.cfg.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return 0, 0, fmt.Errorf("list %s: %w", l.cfg.Dir, err)
	}
	var nums []uint64
	for _, name := range names {
		if n, ok := segmentNumber(name); ok {
			nums = append(nums, n)
		}
	}
	slices.Sort(nums)
	begun := false // a segment with records has been found
	for _, m := range marks {
		if m.Num != 0 && !slices.Contains(nums, m.Num) {
			return 0, 0, missing(l.path(m.Num), m)
		}
	}
	for _, num := range nums {
		last = num
		var mark Mark
		if i := slices.IndexFunc(marks, func(m Mark) bool { return m.Num == num }); i >= 0 {
			mark = marks[i]
		}
		s, next, end, err := l.scan(num)
		if err != nil && !errors.Is(err, errHead) {
			return 0, 0, fmt.Errorf("read log %s: %w", l.path(num), err)
		}
		if end < mark.Synced {
			return 0, 0, tooShort(l.path(num), end, mark)
		}
		if err != nil {
			s.first = l.next // nothing was written to it; it goes with those before
		}
		if s.first > l.next && begun {
			return 0, 0, fmt.Errorf("%w: the log %s begins with record %d, but the logs before end with record %d: %s",
				damage.Err, l.path(num), s.first, l.next-1, damage.Cure)
		}
		l.segments = append(l.segments, s)
		l.stats.cutAt.Add(-end) // it counts for the next Cut
		l.next = max(l.next, s.first, next)
		begun = begun || err == nil
		recovered = end - mark.Synced
	}
	return max(recovered, 0), last, nil
}

func (l *Log) path(num uint64) string {
	return l.cfg.FS.PathJoin(l.cfg.Dir, segment{num: num}.name())
}

// scan reads a segment and makes what it has durable: what is applied again from it may be in tables
// soon. It returns the number behind its last record, and where that ends.
func (l *Log) scan(num uint64) (s segment, next uint64, end int64, err error) {
	s.num = num
	r, err := openSegment(l.cfg.FS, l.path(num), num)
	if err != nil {
		return s, 0, 0, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	var buf []byte
	for ok := true; ok && err == nil; {
		buf, ok, err = r.record(buf)
	}
	if err == nil {
		err = r.file.Sync()
	}
	return r.segment, r.next, r.offset, err
}

// Replay calls apply for all records in their order. The data are apply's own. first says that a record is the first of
// its segment; that of a segment which was begun after a failure may have been applied with the one before.
func (l *Log) Replay(apply func(data []byte, first bool) error) error {
	if l.existing == 0 {
		return nil
	}
	next := uint64(0)
	for _, s := range l.segments[:l.existing] {
		r, err := openSegment(l.cfg.FS, l.path(s.num), s.num)
		if errors.Is(err, errHead) {
			continue
		}
		if next == 0 {
			next = s.first
		}
		if err == nil {
			next, err = r.replay(next, apply)
			err = errors.Join(err, r.Close())
		}
		if err != nil {
			return fmt.Errorf("replay log %s: %w", l.path(s.num), err)
		}
	}
	if next != 0 && next != l.next {
		return fmt.Errorf("%w: the log ends with record %d, and had %d when it was opened: %s", damage.Err, next-1, l.next-1, damage.Cure)
	}
	return nil
}

// replay applies the records from one on. It returns the number behind the last.
func (r *reader) replay(from uint64, apply func(data []byte, first bool) error) (next uint64, err error) {
	for {
		data, ok, err := r.record(nil)
		if err != nil || !ok {
			return max(from, r.next), err
		}
		if r.next-1 < from {
			continue
		}
		if err := apply(data, r.next-1 == r.first); err != nil {
			return 0, err
		}
	}
}
