package store

import (
	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// countTimed counts hashes with fields that expire anew where an earlier version of the program may have written to the
// directory, slice by slice. Writes go on meanwhile. The result is noted on disk once it is complete: after a crash
// before that, the next start does all of it again.
func (ld *loads) countTimed() {
	s := ld.s
	s.commits.RLock()
	known := s.counts.KnowsTimed()
	s.commits.RUnlock()
	if known {
		return
	}
	for slice, more := 0, true; more; {
		var err error
		if slice, more, err = ld.countTimedIn(slice); err != nil {
			s.log.Error("counting hashes with fields that expire failed, the next start tries again", "err", err)
			return
		}
		if s.isStopping() {
			return
		}
	}
	// What the other program has written has to go from the log, too, or the next start would count again.
	if err := s.Writable(); err == nil {
		if err = s.flushTables(); err != nil && !s.isStopping() {
			s.log.Error("writing out tables failed", "err", err)
		}
	}
}

// countTimedIn corrects the count of the next slice from one on that holds anything, and returns where to go on. After
// the last one there is no more.
func (ld *loads) countTimedIn(from int) (next int, more bool, err error) {
	s := ld.s
	var iter *pebble.Iterator
	s.pins.LockCommits()
	slice, more := s.counts.NextTimed(from)
	if more {
		if err = s.cleaner.CleanLocked(slice, slice); err == nil {
			iter, err = ld.newIter(layout.SliceInterval(slice))
		}
	}
	taken, then := s.counts.Taken(), s.counts.LoadOf(slice)
	s.commits.Unlock()
	if !more || err != nil {
		return 0, false, err
	}
	// The slice may be large, so commits go on while it is read. What they change, they count themselves.
	var pacer background.Pacer
	now, err := ld.countHeaders(iter, func() bool {
		pacer.Step()
		return !s.isStopping()
	})
	if err != nil || s.isStopping() {
		return 0, false, err
	}
	s.pins.LockCommits()
	defer s.commits.Unlock()
	if s.counts.Taken() != taken {
		return int(slice), true, nil // once more: what was taken may be of the slice
	}
	counted, were := make(map[counts.Part]Load), make(map[counts.Part]Load)
	then.AddTo(counted, slice)
	now.AddTo(were, slice)
	s.counts.CorrectTimed(counted, were)
	return int(slice) + 1, true, nil
}
