package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/tuning"
)

// Headers of whole values, and removals of such keys, go to the log and to the cache, as dirty lines; see
// package cache. A cleaner writes dirty lines to Pebble later, in the order of their places: that costs a
// memtable a third of what the same keys do one by one, and a key that was changed often is written once.
//
// Invariants:
//
//   - Units of single keys read from the cache first, so they need not know. Whoever reads headers of a range
//     from Pebble has its dirty lines cleaned before: see newHeaderIter, dropLatched and Freeze.
//   - The header that Pebble has of a key with a dirty line is of a whole value, or there is none. A header that
//     names entries is written to Pebble in one batch with these, and so is what replaces it. So an iterator
//     over the entries of a value sees the header that belongs to them.
//   - A line becomes dirty while commits is held for reading, and is cleaned while it is held for writing. So
//     nothing changes between what is read of the lines and what Pebble gets.
//   - The log is not cut before all that was dirty then is clean: see flushTables.

// cleaner writes dirty lines to Pebble.
type cleaner struct {
	s *Store
	// due has something when much is dirty.
	due chan struct{}
}

const (
	// cleanLines is about how many lines are cleaned while commits wait.
	cleanLines = 256
	// longestPause is the longest that the cleaner pauses between two groups of lines.
	longestPause = 10 * time.Millisecond
	// lastSlice is the last of the slices of 2¹⁶ tokens.
	lastSlice = 1<<16 - 1
)

// mayStayDirty reports whether a change of a unit need not reach Pebble with its unit.
func (cl *cleaner) mayStayDirty(u *Unit, c *change) bool {
	return c.base == 0 && c.gen == 0 && !u.copying && cl.s.cache.MayBeDirty(c.key, c.line)
}

// dirtyLimit is how many bytes may be dirty: the cleaner begins at half of that. Memtables must have room for them
// while no tables can be written.
func (cl *cleaner) dirtyLimit() int64 {
	if cl.s.cfg.mostDirty > 0 {
		return cl.s.cfg.mostDirty
	}
	return min(2*cl.s.cfg.MemTable, cl.s.cache.Size()/4)
}

// loop cleans lines while there are many, until the store is closed. It goes round in the order of places, so
// that a line which changes often is cleaned once a round.
func (cl *cleaner) loop() {
	for next := 0; ; {
		select {
		case <-cl.s.stop:
			return
		case <-cl.due:
		}
		for cl.s.cache.DirtyBytes() > cl.dirtyLimit()/2 && !cl.s.isStopping() && !cl.s.health.isRefusedFor(refusal.Tables) {
			began := time.Now()
			end, err := cl.cleanGroup(next, lastSlice)
			if err != nil {
				cl.s.log.Error("writing dirty lines failed", "err", err)
				break
			}
			if next = end; next > lastSlice {
				next = 0
			}
			cl.pause(cl.pauseAfter(time.Since(began)))
		}
	}
}

// pauseAfter is how long the cleaner pauses after a group of lines took so long: the longer, the further from the
// limit it is. So it cleans as much as becomes dirty, evenly, and commits do not meet it in bursts.
func (cl *cleaner) pauseAfter(took time.Duration) time.Duration {
	limit, dirty := cl.dirtyLimit(), cl.s.cache.DirtyBytes()
	above := dirty - limit/2
	switch {
	case dirty >= limit:
		return 0
	case above <= 0:
		return longestPause
	}
	return min(time.Duration(float64(took)*float64(limit-dirty)/float64(above)), longestPause)
}

func (cl *cleaner) pause(d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-cl.s.stop:
	}
}

// cleanAll cleans all lines that are dirty now, and pauses half of the time.
func (cl *cleaner) cleanAll() error {
	for next := 0; next <= lastSlice; {
		began := time.Now()
		var err error
		if next, err = cl.cleanGroup(next, lastSlice); err != nil {
			return err
		}
		if next <= lastSlice {
			cl.pause(min(time.Since(began), longestPause))
		}
	}
	return nil
}

// clean cleans the lines of the slices from first to last that are dirty now. Commits go on meanwhile.
func (cl *cleaner) clean(first, last uint16) (err error) {
	for next := int(first); next <= int(last) && err == nil; {
		next, err = cl.cleanGroup(next, int(last))
	}
	return err
}

// cleanGroup is cleanSome for a caller that has not locked commits.
func (cl *cleaner) cleanGroup(from, last int) (next int, err error) {
	from, ok := cl.s.cache.NextDirty(from, last)
	if !ok {
		return last + 1, nil
	}
	cl.s.commits.Lock()
	defer cl.s.commits.Unlock()
	return cl.cleanSome(from, last)
}

// cleanLocked is clean for a caller that has locked commits for writing.
func (cl *cleaner) cleanLocked(first, last uint16) (err error) {
	for next := int(first); next <= int(last) && err == nil; {
		next, err = cl.cleanSome(next, int(last))
	}
	return err
}

// cleanIntervals is cleanLocked for intervals.
func (cl *cleaner) cleanIntervals(sts []layout.Interval) error {
	for _, st := range sts {
		if err := cl.cleanLocked(layout.SliceOf(st.First), layout.SliceOf(st.Last)); err != nil {
			return err
		}
	}
	return nil
}

// cleanSome cleans slices from one on that have about cleanLines dirty lines. It returns the slice to go on from,
// which is behind last if none is left. The caller has locked commits for writing.
func (cl *cleaner) cleanSome(from, last int) (next int, err error) {
	cache := cl.s.cache
	var cleaned []uint16
	var places []Place
	for next = last + 1; len(places) < cleanLines; {
		slice, ok := cache.NextDirty(from, last)
		if !ok {
			break
		}
		from = slice + 1
		cleaned = append(cleaned, uint16(slice))
		places = cache.AppendDirty(places, uint16(slice))
	}
	if len(cleaned) == 0 {
		return next, nil
	}
	cache.Prefetch(places)
	b := cl.s.db.NewBatch()
	var k []byte
	for _, p := range places {
		cache.EachDirty(p, func(key, line []byte, gone bool) {
			k = layout.AppendDataPrefix(k[:0], p, key)
			if gone {
				_ = b.Delete(k, nil)
			} else {
				_ = b.Set(k, line, nil)
			}
		})
	}
	if !b.Empty() {
		if err := cl.mayWrite(); err != nil {
			return from, errors.Join(err, b.Close())
		}
		if err := cl.s.db.Apply(b, pebble.NoSync); err != nil {
			return from, fmt.Errorf("write dirty lines: %w", err) // Pebble may still hold the batch
		}
	}
	_ = b.Close()
	for _, p := range places {
		cache.Clean(p)
	}
	for _, slice := range cleaned {
		cache.ForgetDirty(slice)
	}
	if len(places) >= cleanLines {
		next = from
	}
	return next, nil
}

// mayWrite returns an error where Pebble would let a write wait for long, or for ever.
func (cl *cleaner) mayWrite() error {
	h := &cl.s.health
	if h.isRefusedFor(refusal.Fatal) || h.isRefusedFor(refusal.Tables) && cl.s.engineMetrics().MemTable.Count >= tuning.MostMemTables-1 {
		return fmt.Errorf("write dirty lines: %w", cl.s.AcceptsRemovals())
	}
	return nil
}

// newHeaderIter returns an iterator over data that sees all that was committed before, and of each commit all
// or nothing.
func (cl *cleaner) newHeaderIter(o *pebble.IterOptions) (*pebble.Iterator, error) {
	if !cl.s.cache.HoldsDirty() {
		return cl.s.db.NewIter(o)
	}
	first, last := sliceWithin(o.LowerBound, 0), sliceWithin(o.UpperBound, lastSlice)
	for try := 0; ; try++ {
		iter, err := cl.tryHeaderIter(o, first, last, try == mostTries)
		if iter != nil || err != nil {
			return iter, err
		}
		if err := cl.clean(first, last); err != nil { // most, while commits go on
			return nil, err
		}
	}
}

// newLooseIter is newHeaderIter for a reader that may see a part of a commit: commits do not wait for it unless
// something is dirty.
func (cl *cleaner) newLooseIter(o *pebble.IterOptions) (*pebble.Iterator, error) {
	if err := cl.clean(sliceWithin(o.LowerBound, 0), sliceWithin(o.UpperBound, lastSlice)); err != nil {
		return nil, err
	}
	return cl.s.db.NewIter(o)
}

// mostTries is how often lines are cleaned while commits go on before commits wait until all are clean.
const mostTries = 4

// tryHeaderIter returns no iterator if more is dirty than is cleaned while commits wait, unless it must.
func (cl *cleaner) tryHeaderIter(o *pebble.IterOptions, first, last uint16, must bool) (*pebble.Iterator, error) {
	cl.s.commits.Lock()
	defer cl.s.commits.Unlock()
	next, err := cl.cleanSome(int(first), int(last))
	if must && err == nil {
		err = cl.cleanLocked(first, last)
	}
	if err != nil || next <= int(last) && !must {
		return nil, err
	}
	return cl.s.db.NewIter(o)
}

// sliceWithin returns the slice that a bound of data lies in; other is for a bound that has none.
func sliceWithin(bound []byte, other uint16) uint16 {
	if len(bound) < 3 || bound[0] != layout.KindData {
		return other
	}
	return binary.BigEndian.Uint16(bound[1:])
}

// cleanMost cleans until little is left that became dirty meanwhile.
func (cl *cleaner) cleanMost() error {
	const few, rounds = 256 << 10, 4
	for range rounds {
		if err := cl.clean(0, lastSlice); err != nil || cl.s.cache.DirtyBytes() < few {
			return err
		}
	}
	return nil
}

// cacheHeaders brings the cache up to date with the headers. What it has no room for as a dirty line goes to
// Pebble.
func (cl *cleaner) cacheHeaders(u *Unit) error {
	s := cl.s
	for i := range u.changes {
		c := &u.changes[i]
		if c.dirty {
			if s.cache.PutDirty(c.place, c.key, c.line, !u.noTouch) {
				continue
			}
			if err := cl.writeHeader(c); err != nil {
				return err
			}
		}
		switch {
		case c.line == nil:
			s.cache.Remove(c.place, c.key)
		case u.copying:
			s.cache.Refresh(c.place, c.key, c.line)
		case u.noTouch:
			s.cache.PutUntouched(c.place, c.key, c.line)
		default:
			s.cache.Put(c.place, c.key, c.line)
		}
	}
	return nil
}

// writeHeader writes the header of a change, which the log has, to Pebble.
func (cl *cleaner) writeHeader(c *change) error {
	b := cl.s.db.NewBatch()
	k := layout.AppendDataPrefix(nil, c.place, c.key)
	if c.line == nil {
		_ = b.Delete(k, nil)
	} else {
		_ = b.Set(k, c.line, nil)
	}
	return errors.Join(cl.s.db.Apply(b, pebble.NoSync), b.Close())
}
