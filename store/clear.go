package store

import (
	"fmt"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Clear removes every key. It takes the same time whatever the store holds; it
// waits for all units that hold latches; taps are told. w is told when it is durable; with an
// error, nothing was removed and w is not used. may, unless it is nil, is asked after that wait:
// its error is returned, and nothing is removed. It must not wait.
func (s *Store) Clear(w Waiter, may func(*Held) error) error {
	err := s.dropper.clear(w, may)
	if err == nil {
		s.housekeeper.flushRangeTombstones()
	}
	return err
}

func (rd *rangeDropper) clear(w Waiter, may func(*Held) error) error {
	nums, _ := rd.lockToClear(latch.All(), true)
	defer rd.unlockCleared(nums, false)
	rd.s.pins.LockCommits()
	defer rd.s.commits.Unlock()
	if err := rd.s.AcceptsRemovals(); err != nil {
		return err
	}
	if may != nil {
		if err := may(rd.held()); err != nil {
			return err
		}
	}
	b := rd.s.db.NewBatch()
	for _, kind := range []byte{layout.KindData, layout.KindExpiry, layout.KindGarbage} {
		_ = b.DeleteRange([]byte{kind}, []byte{kind + 1}, nil)
	}
	rd.s.counts.CheckpointEmpty(b)
	rd.s.latches.BeginCommit(nums, latch.Committing)
	rd.s.versions.NoteAll()
	err := rd.s.logAndApply(b, nil)
	if err == nil {
		rd.s.counts.Reset()
		rd.s.counts.JournalDropped()
		rd.s.housekeeper.rangeTombstones.Add(4 * overlapWeight)
		rd.s.cache.Clear()
		if taps := rd.s.taps.Current(); taps != nil {
			w = rd.handOverDrop(taps, []ring.Range{ring.Whole}, nums, w)
		}
		rd.s.latches.NoteCommit(nums, rd.s.syncs.Add(w))
	}
	rd.s.latches.EndCommit(nums, latch.Committing)
	_ = b.Close()
	if err != nil {
		return fmt.Errorf("%w: clear: %w", ErrReadOnly, err)
	}
	return nil
}

// lockToClear takes both locks of latches and, since a checkpoint under way would bring back the
// counts it has copied, Store.checkpoints. Without patience it returns false, and holds nothing,
// once one unit has held one of the latches for some time.
//
// Invariant: checkpoints is not held while a latch is waited for. Whatever needs it, which
// includes each drop of a range, would wait for a script otherwise.
func (rd *rangeDropper) lockToClear(nums []uint16, patient bool) (sorted []uint16, ok bool) {
	for {
		rd.s.pins.Await()
		if patient {
			nums = rd.s.latches.LockBackground(nums)
		} else if nums, ok = rd.s.latches.LockWithin(nums); !ok {
			return nums, false
		}
		rd.s.latches.LockFollow(nums)
		if rd.s.checkpoints.TryLock() {
			return nums, true
		}
		rd.s.latches.UnlockFollow(nums)
		rd.s.latches.Unlock(nums)
		rd.s.checkpoints.Lock() // a checkpoint waits for no unit
		if _, ok := rd.s.latches.TryLock(nums); ok {
			rd.s.latches.LockFollow(nums)
			return nums, true
		}
		rd.s.checkpoints.Unlock()
	}
}

// lockToFollow is lockToClear for what a receiver drops: it waits for no unit.
func (rd *rangeDropper) lockToFollow(nums []uint16) (sorted []uint16) {
	rd.s.pins.Await()
	rd.s.checkpoints.Lock()
	return rd.s.latches.LockFollow(nums)
}

// unlockCleared lets go of what lockToClear has taken, or lockToFollow.
func (rd *rangeDropper) unlockCleared(nums []uint16, follows bool) {
	rd.s.latches.UnlockFollow(nums)
	if !follows {
		rd.s.latches.Unlock(nums)
	}
	rd.s.checkpoints.Unlock()
}
