package store

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/refusal"
)

// rangeDropper removes all keys of ranges, or all keys.
type rangeDropper struct {
	s     *Store
	drops atomic.Int64 // ranges dropped since the store was opened
}

// ClearRanges removes every key of some ranges with one commit, as Clear does all keys:
// taps are told. w is told when that is durable; with an error, nothing was removed and w
// is not used. may is as for Clear.
func (s *Store) ClearRanges(w Waiter, may func(*Held) error, rs ...ring.Range) error {
	if err := s.dropper.drop(layout.UnionOf(rs), dropOptions{taps: rs, may: may}, w); err != nil {
		return fmt.Errorf("clear %v: %w", rs, err)
	}
	return nil
}

// DropRanges removes every key of some ranges from this store alone, which has given
// them away. It takes about the same time whatever they hold, but for what the ends
// of a range cut off a slice of 2¹⁶ tokens, which is read to be counted. A tapped
// range is refused: ErrOverlap. ErrLatched says that a unit holds a latch of the ranges for
// long, and that nothing was removed. w is as for ClearRange, and may be nil.
func (s *Store) DropRanges(w Waiter, rs ...ring.Range) error {
	if err := s.dropper.drop(layout.UnionOf(rs), dropOptions{mayWait: true}, w); err != nil {
		return fmt.Errorf("drop %v: %w", rs, err)
	}
	return nil
}

// drop removes all that lies in some intervals, with one batch: the keys, what the
// counts have of them, and what is named as garbage. Their entries in the index of
// expiry times are left to sweepDropped. Taps are told of d.told, or must not be there.
func (rd *rangeDropper) drop(sts []layout.Interval, d dropOptions, w Waiter) error {
	// Most lines go before any unit has to wait. The counts are no more than a hint here: after
	// damage they may be estimates.
	for _, st := range sts {
		if err := rd.s.cleaner.Clean(layout.SliceOf(st.First), layout.SliceOf(st.Last)); err != nil {
			return err
		}
	}
	if rd.hasKeys(sts) {
		d.marks = rd.s.cache.SweepAhead(layout.ContainsFunc(sts))
	}
	nums := latchesOf(sts)
	if d.follows {
		nums = rd.lockToFollow(nums)
	} else {
		var ok bool
		if nums, ok = rd.lockToClear(nums, !d.mayWait); !ok {
			return ErrLatched
		}
	}
	d.nums = nums
	err := rd.dropLatched(sts, d, w)
	rd.unlockCleared(nums, d.follows)
	if err == nil {
		rd.s.housekeeper.flushRangeTombstones()
	}
	return err
}

// hasKeys reports whether slices that some intervals have a part in hold anything.
func (rd *rangeDropper) hasKeys(sts []layout.Interval) bool {
	return slices.ContainsFunc(sts, func(st layout.Interval) bool {
		for slice := int(layout.SliceOf(st.First)); slice <= int(layout.SliceOf(st.Last)); slice++ {
			if rd.s.counts.KeysOf(uint16(slice)) > 0 {
				return true
			}
		}
		return false
	})
}

func latchesOf(sts []layout.Interval) (nums []uint16) {
	for _, st := range sts {
		if nums = latch.AppendOf(nums, st); len(nums) == latch.Count {
			break
		}
	}
	return nums
}

// A dropOptions is how intervals are dropped.
type dropOptions struct {
	nums  []uint16 // of their latches, which are held
	marks []uint64 // of sweepAhead
	taps  []ring.Range
	// unread: nothing in them is read, nor is damage in the way, and they are marked as
	// to be cut out of the tables.
	unread bool
	// mayWait: the drop can be put off, and is with ErrLatched where a unit takes long.
	mayWait bool
	// follows: a receiver drops what another store has dropped.
	follows bool
	// may, unless it is nil, is asked once the latches are held: nothing is dropped if it
	// returns an error.
	may func(*Held) error
}

// dropLatched does as drop does; the caller holds the latches.
func (rd *rangeDropper) dropLatched(sts []layout.Interval, d dropOptions, w Waiter) error {
	rd.s.pins.LockCommits()
	defer rd.s.commits.Unlock()
	if err := rd.s.AcceptsRemovals(); err != nil && !(d.unread && rd.s.health.refusals.AreOnly(refusal.Damage, refusal.DiskLow)) {
		return err
	}
	if d.may != nil {
		if err := d.may(rd.held()); err != nil {
			return err
		}
	}
	taps := rd.s.taps.Current()
	if d.taps == nil && taps != nil {
		for _, st := range sts {
			if taps.Overlap(st) {
				return ErrOverlap
			}
		}
	}
	// What is not counted is not deleted in Pebble, and may be there: a line may say alone that it is gone.
	if err := rd.s.cleaner.CleanIntervals(sts); err != nil {
		return err
	}
	lost, err := rd.computeLoss(sts, d.unread)
	if err != nil {
		return err
	}
	rd.s.counts.Take(lost.parts, 1)
	b := rd.dropBatch(&lost)
	if d.unread {
		for _, st := range sts {
			_ = b.Set(discardKey(st), nil, nil)
		}
	}
	mark := uint64(latch.Committing)
	if d.follows {
		mark = latch.Following
	}
	rd.s.latches.BeginCommit(d.nums, mark)
	if d.taps != nil || d.unread { // else it is not this store's to serve
		rd.s.versions.NoteAll()
	}
	err = rd.s.logAndApply(b, nil)
	if err == nil {
		_ = b.Close()
		rd.s.cache.Sweep(d.marks, layout.ContainsFunc(sts))
		rd.dropped(&lost)
		if d.taps != nil && taps != nil {
			w = rd.handOverDrop(taps, d.taps, d.nums, w)
		}
		rd.s.latches.NoteCommit(d.nums, rd.s.syncs.Add(w))
	} else {
		rd.s.counts.Take(lost.parts, -1)
		err = fmt.Errorf("%w: %w", ErrReadOnly, err)
	}
	rd.s.latches.EndCommit(d.nums, mark)
	return err
}

// A dropLoss is what a drop takes from the store.
type dropLoss struct {
	parts map[counts.Part]Load
	// occupied are the intervals to delete. Of the others it is certain that they hold
	// nothing but garbage, which is collected by its own marks.
	occupied []occupiedInterval
	// estimated are slices whose counts are not certain from now on.
	estimated []uint16
}

// An occupiedInterval interval is one to delete; expires says that entries of the index of expiry
// times may be left of it.
type occupiedInterval struct {
	layout.Interval
	expires bool
}

// computeLoss returns what a drop of some intervals takes; the latches are held, and commits.
func (rd *rangeDropper) computeLoss(sts []layout.Interval, unread bool) (lost dropLoss, err error) {
	if unread {
		if lost.parts, lost.estimated = rd.s.discarder.estimateLoss(sts); len(lost.estimated) > 0 {
			rd.s.counts.DoubtTimed()
		}
		for _, st := range sts {
			lost.occupied = append(lost.occupied, occupiedInterval{st, true})
		}
		return lost, nil
	}
	lost.parts = make(map[counts.Part]Load)
	for _, st := range sts {
		var held Load
		err := rd.s.loads.eachSlice(st, func(slice uint16, l counts.SliceLoad) {
			held.Add(l.All)
			l.AddTo(lost.parts, slice)
		})
		if err != nil {
			return lost, err
		}
		certain, err := rd.isCountCertain(st)
		if err != nil {
			return lost, err
		}
		if held != (Load{}) || !certain {
			lost.occupied = append(lost.occupied, occupiedInterval{st, held.Expires != 0 || rd.s.identity.HasFieldTimes() || !certain})
		}
	}
	return lost, nil
}

// isCountCertain reports whether the counts of an interval, as eachSlice gives them, are sure to be
// right: they may be estimates after damage. The latches are held, and commits.
func (rd *rangeDropper) isCountCertain(st layout.Interval) (bool, error) {
	c := &rd.s.counts
	for slice := int(layout.SliceOf(st.First)); slice <= int(layout.SliceOf(st.Last)); slice++ {
		if c.IsCertain(uint16(slice)) {
			continue
		}
		whole := layout.SliceInterval(uint16(slice))
		if st.First <= whole.First && st.Last >= whole.Last {
			return false, nil // the drop makes it certain
		}
		if c.Of(uint16(slice)) != (Load{}) {
			continue // eachSlice has read the part
		}
		// The part is never dropped with the rest, so it is looked at once.
		vacant, err := rd.s.discarder.isEmptyInterval(whole)
		if err != nil {
			return false, rd.s.readFailed(err)
		}
		if !vacant {
			return false, nil
		}
		c.SetCertain(uint16(slice), true)
	}
	return true, nil
}

// dropped notes that a loss has been committed; commits is held for writing.
func (rd *rangeDropper) dropped(lost *dropLoss) {
	for _, st := range lost.occupied {
		for slice := int(layout.SliceOf(st.First)); slice <= int(layout.SliceOf(st.Last)); slice++ {
			if whole := layout.SliceInterval(uint16(slice)); st.First <= whole.First && st.Last >= whole.Last {
				rd.s.counts.SetCertain(uint16(slice), true)
			}
		}
		if st.expires {
			rd.drops.Add(1)
			rd.s.expirer.sweepPending.Store(true)
		}
	}
	for _, slice := range lost.estimated {
		rd.s.counts.SetCertain(slice, false)
	}
	if len(lost.occupied) > 0 {
		rd.s.counts.JournalDropped()
		rd.s.housekeeper.rangeTombstones.Add(int64(2*len(lost.occupied)+1) * overlapWeight)
	}
}

// dropBatch returns the batch that deletes occupied intervals. It begins a new term of the
// counts, as they are now; commits is held for writing, and checkpoints.
func (rd *rangeDropper) dropBatch(lost *dropLoss) *pebble.Batch {
	b := rd.s.db.NewBatch()
	if len(lost.occupied) == 0 {
		return b
	}
	for _, st := range lost.occupied {
		for _, kind := range []byte{layout.KindData, layout.KindGarbage} {
			lower, upper := st.Bounds(kind)
			_ = b.DeleteRange(lower, upper, nil)
		}
		if st.expires {
			_ = b.Set(droppedKey(st.Interval), nil, nil)
		}
	}
	rd.s.counts.Checkpoint(b)
	return b
}
