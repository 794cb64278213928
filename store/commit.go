package store

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
)

// Commit makes the unit's changes visible and ends it. It reports whether the
// replies must wait: if so, w.Settled is called once all that the unit has
// written and read is durable; if not, w is not used. A nil w is for callers that
// do not wait. An error means that nothing was changed, unless it wraps ErrUnknown.
//
// The order of things, for each latch that the unit holds:
//
//	version marked → log, in memory → Pebble → cache → counts →
//	taps → sync queue → settled → mark off → unlock
//
// A reader without the latch fetches first and looks at the version afterwards.
// Without a mark, settled names every commit that the fetched value may stem from;
// fills of the cache that began before the mark was set are refused.
func (u *Unit) Commit(w Waiter) (wait bool, err error) {
	if u.batch == nil && u.failure == nil {
		u.countNoted()
		if n := u.queueEvents(nil); n != nil {
			n.Settled(nil) // they tell of nothing that is written
		}
		u.release()
		if w == nil || u.s.syncs.IsDurable(u.after) && !u.isHeld() && len(u.notices) == 0 {
			u.notices = nil
			return false, nil
		}
		w = u.awaitNotices(w)
		u.s.syncs.Enqueue(syncqueue.Commit{Waiter: u.awaitAcks(w), Times: u.CommitTimes}, !u.syncsItself)
		return true, nil
	}
	if err := u.apply(w); err != nil {
		u.release()
		return false, err
	}
	u.release()
	if u.hadRangeTombstones {
		u.hadRangeTombstones = false
		u.s.housekeeper.flushRangeTombstones()
	}
	return true, nil
}

// Abort ends the unit without its changes.
func (u *Unit) Abort() {
	if u.batch != nil {
		_ = u.batch.Close()
	}
	u.release()
}

// Fail gives the unit up: from now on Commit changes nothing and reports err. For a
// command that fails after part of its changes, which cannot be taken back alone.
func (u *Unit) Fail(err error) {
	if u.failure == nil {
		u.failure = err
	}
}

// Flush makes the changes so far visible without ending the unit: its latches
// stay held. For values too large for one batch. An error also fails the unit,
// since its earlier commands are lost with the others.
func (u *Unit) Flush() error {
	if u.batch == nil {
		return u.failure
	}
	if err := u.apply(nil); err != nil {
		u.Fail(err)
		return err
	}
	u.flushed = true
	if !u.split {
		u.split = true
		u.s.pins.Split.Add(1)
	}
	return nil
}

// refusal returns why the unit cannot be applied.
func (u *Unit) refusal() error {
	switch {
	case u.failure != nil:
		return u.failure
	case u.unseenErr != nil:
		return u.unseenErr
	}
	return u.s.health.refusalFor(u.frees)
}

// RemovesOnly says that what the unit does only removes, or that the rest was accepted before
// the disk ran short: so it may be committed as long as the store accepts removals.
func (u *Unit) RemovesOnly() { u.frees = true }

// refused ends apply with an error: the changes are dropped.
func (u *Unit) refused(err error) error {
	if u.batch != nil {
		_ = u.batch.Close()
		u.batch = nil
	}
	u.forget()
	if u.flushed && !errors.Is(err, ErrUnknown) {
		return fmt.Errorf("%w: only part of it was done: %w", ErrUnknown, err)
	}
	return err
}

func (u *Unit) release() {
	if u.split {
		u.split = false
		u.s.pins.Split.Add(-1)
	}
	if u.long.staged {
		u.s.commits.RLock()
		if taps := u.s.taps.Current(); taps != nil {
			handOverAbandoned(taps, u.long.staging)
		}
		u.s.commits.RUnlock()
		u.long.staged = false
	}
	if u.isLong {
		u.s.latches.UnmarkLong(u.latched)
		u.isLong = false
	}
	if u.following || u.excludesReceivers {
		u.s.latches.UnlockFollow(u.latched)
	}
	if !u.following {
		u.s.latches.Unlock(u.latched)
	}
	u.latched = u.latched[:0]
	u.batch = nil
	u.forget()
	for _, c := range u.long.staging {
		u.s.generations.Release(c.gen)
	}
	clear(u.long.staging)
	u.long.staging = u.long.staging[:0]
	for i := range u.readers {
		_ = u.readers[i].iter.Close()
		u.readers[i] = pieceReader{}
	}
	u.readers = u.readers[:0]
	if cap(u.lines) > 1<<20 {
		u.lines = nil
	}
}

// forget drops the record of changes that have been applied.
func (u *Unit) forget() {
	clear(u.changes)
	u.changes = u.changes[:0]
	u.headChanges++
	u.deltas = u.deltas[:0]
	u.headers, u.rangeTombstones = 0, 0
	clear(u.touched)
	u.touched = u.touched[:0]
	u.events, u.noted = u.events[:0], u.noted[:0]
	u.pieces.dropChanged(0)
	u.elements.Forget()
	u.row.Forget()
	u.set = nil
	if u.own.made != 0 {
		u.own = ownChanges{}
	}
	if cap(u.changes) > 1<<11 {
		u.changes, u.deltas, u.index, u.events, u.noted = nil, nil, nil, nil, nil
	}
}

// beginCommit lets the caller commit to Pebble until it unlocks commits for reading, or
// returns why it may not; frees says that the writes only remove. Nothing goes to Pebble any
// other way.
func (s *Store) beginCommit(frees bool) error {
	if err := s.health.refusalFor(frees); err != nil {
		return err // without waiting for a rotation under way
	}
	if err := s.gate.Await(frees); err != nil {
		return err
	}
	s.pins.BeginCommit()
	if err := s.health.refusalFor(frees); err != nil {
		s.commits.RUnlock()
		return err
	}
	return nil
}

// logAndApply appends a batch to the log and applies it. The caller holds commits, and whatever keeps
// others from changing the same keys: so the log has their changes in the order in which Pebble has them.
// dirty, if there is one, is what the cache is going to have alone. An error means that nothing was changed, as when
// the log has failed, unless it wraps ErrUnknown.
func (s *Store) logAndApply(b, dirty *pebble.Batch) (err error) {
	switch {
	case dirty == nil:
		_, err = s.wal.Append(b.Repr(), nil)
	case b.Empty():
		_, err = s.wal.Append(dirty.Repr(), nil)
	default:
		_, err = s.wal.Append(b.Repr(), dirty.Repr())
	}
	if err != nil || b.Empty() {
		return err
	}
	if err := s.db.Add(b); err != nil {
		return s.health.applyFailed(err)
	}
	return nil
}

// writeRemoval commits a batch that is not a unit's, of what removes and of the few bytes that removing
// takes.
func (s *Store) writeRemoval(b *pebble.Batch) error {
	if err := s.beginCommit(true); err != nil {
		return err
	}
	defer s.commits.RUnlock()
	if err := s.logAndApply(b, nil); err != nil {
		return fmt.Errorf("%w: commit: %w", ErrReadOnly, err)
	}
	return nil
}

// writeRemovalNow is writeRemoval, and waits until the batch is as durable as the fsync mode demands. After an
// error the batch may have been executed all the same.
func (s *Store) writeRemovalNow(b *pebble.Batch) error {
	if err := s.writeRemoval(b); err != nil {
		return err
	}
	if err := s.wal.Write(); err != nil {
		return fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	return nil
}

// beginCommit is that of the store, with all parts of long values handed over.
func (u *Unit) beginCommit() error {
	if !u.long.staged {
		return u.s.beginCommit(u.frees)
	}
	for {
		if err := u.long.resendAllStaged(); err != nil {
			return err
		}
		if err := u.s.beginCommit(u.frees); err != nil || u.long.isStagedHandedOver() {
			return err
		}
		u.s.commits.RUnlock()
	}
}

// apply hands the batch to Pebble and to the sync queue.
func (u *Unit) apply(w Waiter) error {
	s := u.s
	if err := u.refusal(); err != nil {
		return u.refused(err)
	}
	u.pieces.writeChanged()
	u.writeElements()
	dirty := u.writeHeaders()
	if dirty != nil {
		defer func() { _ = dirty.Close() }()
	}
	if err := u.beginCommit(); err != nil {
		return u.refused(err)
	}
	if err := u.isFollowed(dirty); err != nil {
		s.commits.RUnlock()
		return u.refused(err)
	}
	if len(u.deltas) > 0 {
		var n int
		u.pbuf, n = s.counts.AppendEntry(u.pbuf[:0], u.deltas)
		if dirty != nil {
			_ = dirty.Set(u.pbuf[:n], u.pbuf[n:], nil) // the log is enough: see cutLog
		} else {
			_ = u.batch.Set(u.pbuf[:n], u.pbuf[n:], nil)
			u.headers++
		}
	}
	mark := uint64(latch.Committing)
	if u.following {
		mark = latch.Following
	}
	s.latches.BeginCommit(u.latched, mark)
	taps := s.taps.Current()
	var contents batchrepr.Reader
	entries := false
	if taps != nil {
		contents, entries = u.batch.Reader(), u.batch.Count() != u.headers
	}
	u.countNoted()
	if !u.batch.Empty() {
		s.versions.NoteBatch(u.batch.Reader())
	}
	if dirty != nil {
		s.versions.NoteBatch(dirty.Reader())
	}
	err := s.logAndApply(u.batch, dirty)
	if err == nil {
		err = s.cacheHeaders(u)
	}
	if err == nil {
		for _, d := range u.deltas {
			s.counts.Add(d)
		}
		s.cache.ApplyElements(&u.elements)
		if taps != nil {
			u.handOver(taps, contents, entries)
		}
		u.notifyChanged()
		u.noteChanged()
	}
	s.commits.RUnlock()
	if err == nil {
		_ = u.batch.Close()
		var times *CommitTimes
		if w != nil { // else the unit goes on, and its memory is not the queue's
			times = u.CommitTimes
		}
		if u.rangeTombstones > 0 {
			s.housekeeper.rangeTombstones.Add(int64(u.rangeTombstones))
			u.hadRangeTombstones = true
		}
		w = u.queueEvents(u.awaitNotices(w))
		if taps != nil {
			w = u.awaitAcks(w)
		}
		number := s.syncs.Enqueue(syncqueue.Commit{Writes: true, Waiter: w, Times: times}, !u.syncsItself)
		s.latches.NoteCommit(u.latched, number)
		u.after = max(u.after, number)
	} else {
		// The cache stays as it is: a line that this commit was to replace may be dirty, and all there is of a
		// change that was acknowledged.
		if errors.Is(err, ErrUnknown) {
			u.batch = nil // Pebble may still hold it
		}
		err = u.refused(fmt.Errorf("%w: commit: %w", ErrReadOnly, err))
	}
	s.latches.EndCommit(u.latched, mark)
	u.batch = nil
	u.forget()
	return err
}
