package store

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/background"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/tables"
)

// What to do about tables that the disk has damaged. Damage is found when a block is
// read, and keeps its table from being merged for good: so a range with damage in it is
// not merely deleted but cut out of the tables.

// discarder finds damaged ranges and removes them.
type discarder struct{ s *Store }

// Damaged returns the ranges in which something that could not be read has been come
// across since the store was opened: more than that, since whole tables are meant.
// CheckTables tells what of it is damaged. What lies beside the data of ranges,
// as the index of expiry times does, is in none.
func (dc *discarder) Damaged() []ring.Range { return dc.s.health.damage.Ranges() }

// CheckRange reads all that the store holds of a range, but for what is to be removed. The
// error wraps ErrDamaged if some of it cannot be read. pace, if not nil, is told now and then how many bytes have
// been read, and may take its time. What is in memory is not read from the disk.
func (dc *discarder) CheckRange(ctx context.Context, r ring.Range, pace func(bytes int)) error {
	for _, st := range layout.PiecesOf(r) {
		// Garbage is not looked at: of most ranges there is none, and where it would be, a
		// block begins with the data of the last range, and goes on with what is no range's.
		if err := dc.checkInterval(ctx, st, layout.KindData, pace); err != nil {
			return fmt.Errorf("check %v: %w", r, err)
		}
	}
	return nil
}

// CheckTables is CheckRange that also reads what has been removed and is still in tables: damage in it keeps
// tables from being merged as any other does. What can be read is in no damaged range any more.
func (dc *discarder) CheckTables(ctx context.Context, r ring.Range, pace func(bytes int)) error {
	if err := dc.CheckRange(ctx, r, pace); err != nil {
		return err
	}
	for _, st := range layout.PiecesOf(r) {
		lower, upper := st.Bounds(layout.KindData)
		if err := dc.tables().Check(lower, upper, func(size int) error { return dc.checked(ctx, pace, size) }); err != nil {
			return fmt.Errorf("check tables of %v: %w", r, dc.s.readFailed(err))
		}
		dc.s.health.damage.Remove(st)
	}
	return nil
}

// tables returns what reads tables past what has been deleted.
func (dc *discarder) tables() *tables.Reader {
	s := dc.s
	return &tables.Reader{
		DB: s.db.DB, Dir: s.cfg.FS.PathJoin(s.cfg.Dir, "data"), FS: s.cfg.FS, Files: s.files, Blocks: s.blocks, MemTable: s.cfg.MemTable,
	}
}

// checked tells pace how many bytes have been read, and returns why the check is to end, or nil.
func (dc *discarder) checked(ctx context.Context, pace func(bytes int), size int) error {
	if pace != nil {
		pace(size)
	}
	if ctx.Err() != nil || dc.s.isStopping() {
		return cmp.Or(ctx.Err(), ErrClosed)
	}
	return nil
}

func (dc *discarder) checkInterval(ctx context.Context, st layout.Interval, kind byte, pace func(int)) error {
	lower, upper := st.Bounds(kind)
	iter, err := dc.s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return dc.s.readFailed(err)
	}
	size := 0
	var step background.Pacer
	for ok := iter.First(); ok && err == nil; ok = iter.Next() {
		step.Step()
		var value []byte
		value, err = iter.ValueAndErr()
		if size += len(iter.Key()) + len(value); size >= tables.CheckStep {
			if err := dc.checked(ctx, pace, size); err != nil {
				return errors.Join(iter.Close(), err)
			}
			size = 0
		}
	}
	if err = errors.Join(err, iter.Error(), iter.Close()); err != nil {
		return dc.s.readFailed(err)
	}
	if pace != nil && size > 0 {
		pace(size)
	}
	return nil
}

// DiscardRanges removes all that the store holds of some ranges without reading it, and
// cuts it out of the tables: whatever the disk has damaged there is gone. It is for
// ranges of which there are copies elsewhere, that are not written to meanwhile and that
// are not tapped: ErrOverlap. It works where writes are refused because of damage, too,
// and ends that. Writes to the whole store wait while it cuts, for a few ms or as long
// as it takes to write tables.
//
// An error that wraps ErrDamaged says that damage lies across an end of the ranges: the
// range is empty, but the damage is still there. To discard the next range, too, helps.
// After an error nothing may be written in the ranges before DiscardRanges has succeeded.
func (dc *discarder) DiscardRanges(rs ...ring.Range) error {
	var all []layout.Interval
	for _, r := range rs {
		all = append(all, layout.PiecesOf(r)...)
	}
	if all = layout.Union(all); len(all) == 0 {
		return nil
	}
	if err := dc.discard(all); err != nil {
		return fmt.Errorf("discard %v: %w", rs, err)
	}
	dc.s.log.Warn("deleted ranges", "ranges", rs)
	return nil
}

func (dc *discarder) discard(sts []layout.Interval) error {
	if err := dc.s.flushTables(); err != nil { // most, before any unit has to wait
		return err
	}
	marks := dc.s.cache.SweepAhead(layout.ContainsFunc(sts))
	nums, ok := dc.s.dropper.lockToClear(latchesOf(sts), false)
	if !ok {
		return ErrLatched
	}
	defer dc.s.dropper.unlockCleared(nums, false)
	var done Signal
	err := dc.s.dropper.dropLatched(sts, dropOptions{nums: nums, marks: marks, unread: true}, &done)
	if err == nil {
		err = done.Wait()
	}
	if err != nil {
		return err
	}
	// The counts must not be older than the tables.
	if err := dc.s.wal.Sync(); err != nil {
		return fmt.Errorf("%w: %w", ErrUnknown, err)
	}
	if err := dc.excise(sts); err != nil {
		return err
	}
	for _, st := range sts {
		dc.s.health.damage.Remove(st)
	}
	return dc.discarded(sts)
}

// excise cuts intervals, which hold nothing that can be seen and whose latches are held,
// out of the tables.
func (dc *discarder) excise(sts []layout.Interval) error {
	// The flush may take its time, while tables cannot be merged because of the damage: so commits
	// wait at a gate, and not for a lock that readers would wait for, too.
	defer dc.s.pins.BeginDiscard()()
	// Something of the intervals in a memtable would make the cut part of its flush,
	// which has no way to fail.
	flushed, err := dc.s.db.AsyncFlush()
	if err != nil {
		return fmt.Errorf("write out memtables: %w", err)
	}
	select {
	case <-flushed:
	case <-dc.s.stop:
		return cleaner.ErrStopped
	case <-dc.s.health.fatal:
		return cleaner.ErrStopped
	}
	// Pebble takes what it cannot read beside a cut for nothing, and drops the rest of
	// the table with it.
	for _, st := range sts {
		for _, kind := range []byte{layout.KindData, layout.KindGarbage} {
			if err := dc.tables().CheckEnds(st.Bounds(kind)); err != nil {
				return fmt.Errorf("beside the cut: %w", dc.s.readFailed(err))
			}
		}
	}
	for _, st := range sts {
		for _, kind := range []byte{layout.KindData, layout.KindGarbage} {
			lower, upper := st.Bounds(kind)
			if err := dc.s.db.Excise(context.Background(), pebble.KeyRange{Start: lower, End: upper}); err != nil {
				return dc.s.readFailed(err)
			}
		}
	}
	dc.s.health.merges.Removed()
	return nil
}

// isEmptyInterval reports whether nothing can be seen in an interval.
func (dc *discarder) isEmptyInterval(st layout.Interval) (bool, error) {
	lower, upper := st.Bounds(layout.KindData)
	iter, err := dc.s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return false, err
	}
	occupied := iter.First()
	return !occupied, errors.Join(iter.Error(), iter.Close())
}

// A mark in the batch that discards an interval has it cut out of the tables when the
// store is opened again, if it came to its end before that was done:
//
//	kindMeta | "cut" | first place 8 B BE | last place 8 B BE
var discardPrefix = []byte{layout.KindMeta, 'c', 'u', 't'}

func discardKey(st layout.Interval) []byte {
	k := binary.BigEndian.AppendUint64(slices.Clone(discardPrefix), uint64(st.First))
	return binary.BigEndian.AppendUint64(k, uint64(st.Last))
}

// discarded removes the marks of intervals.
func (dc *discarder) discarded(sts []layout.Interval) error {
	b := dc.s.db.NewBatch()
	for _, st := range sts {
		_ = b.Delete(discardKey(st), nil)
	}
	return errors.Join(dc.s.writeRemoval(b), b.Close())
}

// resumeDiscards does what was left undone when the store was closed. What has come back
// to an interval since stays.
func (dc *discarder) resumeDiscards() error {
	sts, err := dc.s.markedIntervals(discardPrefix)
	if err != nil || len(sts) == 0 {
		return err
	}
	var cut []layout.Interval
	for _, st := range sts {
		// That it cannot be read is why it is to be cut.
		if vacant, err := dc.isEmptyInterval(st); vacant || err != nil {
			cut = append(cut, st)
		}
	}
	nums := dc.s.latches.LockBackground(latchesOf(cut))
	defer dc.s.latches.Unlock(nums)
	dc.s.latches.LockFollow(nums)
	defer dc.s.latches.UnlockFollow(nums)
	if err := dc.excise(cut); err != nil {
		return err
	}
	return dc.discarded(sts)
}

// estimateLoss is what some intervals hold of each slice, by what the rest of the slice
// holds; where that cannot be read either, in proportion, and the slice is among those
// estimated. The latches are held.
func (dc *discarder) estimateLoss(sts []layout.Interval) (gone map[counts.Part]Load, estimated []uint16) {
	gone = make(map[counts.Part]Load)
	for _, st := range sts {
		for slice := int(layout.SliceOf(st.First)); slice <= int(layout.SliceOf(st.Last)); slice++ {
			if _, ok := gone[counts.Part{Slice: uint16(slice)}]; ok {
				continue
			}
			l := dc.s.counts.LoadOf(uint16(slice))
			if l.All == (Load{}) {
				continue
			}
			rest := []layout.Interval{{First: Place(slice) << 48, Last: Place(slice)<<48 | (1<<48 - 1)}}
			for _, cut := range sts {
				rest = layout.Without(rest, cut)
			}
			kept := make(map[counts.Part]Load)
			for _, st := range rest {
				n, err := dc.s.loads.countInterval(st)
				if err != nil {
					n = l.Proportion(int64(st.Last.Token()-st.First.Token()) + 1)
					dc.s.log.Warn("counting the keys of a deleted range failed, using an estimate", "slice", slice, "err", err)
					estimated = append(estimated, uint16(slice))
				}
				n.AddTo(kept, uint16(slice))
			}
			l.AddTo(gone, uint16(slice))
			for part, kept := range kept {
				l := gone[part]
				gone[part] = Load{
					Keys: max(l.Keys-kept.Keys, 0), Bytes: max(l.Bytes-kept.Bytes, 0), Expires: max(l.Expires-kept.Expires, 0),
					TimedHashes: max(l.TimedHashes-kept.TimedHashes, 0),
				}
			}
		}
	}
	return gone, estimated
}
