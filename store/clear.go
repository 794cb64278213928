package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Clear removes every key. It takes the same time whatever the store holds; it
// waits for all units that hold latches; taps are told. w is told when it is durable; with an
// error, nothing was removed and w is not used. may, unless it is nil, is asked after that wait:
// its error is returned, and nothing is removed. It must not wait.
func (s *Store) Clear(w Waiter, may func() error) error {
	err := s.clear(w, may)
	if err == nil {
		s.flushRangeTombstones()
	}
	return err
}

func (s *Store) clear(w Waiter, may func() error) error {
	nums, _ := s.lockToClear(latch.All(), true)
	defer s.unlockCleared(nums, false)
	s.commits.Lock()
	defer s.commits.Unlock()
	if err := s.AcceptsRemovals(); err != nil {
		return err
	}
	if may != nil {
		if err := may(); err != nil {
			return err
		}
	}
	b := s.db.NewBatch()
	for _, kind := range []byte{layout.KindData, layout.KindExpiry, layout.KindGarbage} {
		_ = b.DeleteRange([]byte{kind}, []byte{kind + 1}, nil)
	}
	s.counts.CheckpointEmpty(b)
	s.latches.BeginCommit(nums, latch.Committing)
	s.versions.NoteAll()
	err := s.db.Apply(b, pebble.NoSync)
	if err == nil {
		s.counts.Reset()
		s.counts.JournalDropped()
		s.rangeTombstones.Add(4 * overlapWeight)
		s.cache.Clear()
		if taps := s.taps.Current(); taps != nil {
			w = s.handOverDrop(taps, []ring.Range{ring.Whole}, nums, w)
		}
		s.latches.NoteCommit(nums, s.syncs.Add(b, w))
	}
	s.latches.EndCommit(nums, latch.Committing)
	if err != nil {
		_ = b.Close()
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
func (s *Store) lockToClear(nums []uint16, patient bool) (sorted []uint16, ok bool) {
	for {
		if patient {
			nums = s.latches.LockBackground(nums)
		} else if nums, ok = s.latches.LockWithin(nums); !ok {
			return nums, false
		}
		s.latches.LockFollow(nums)
		if s.checkpoints.TryLock() {
			return nums, true
		}
		s.latches.UnlockFollow(nums)
		s.latches.Unlock(nums)
		s.checkpoints.Lock() // a checkpoint waits for no unit
		if _, ok := s.latches.TryLock(nums); ok {
			s.latches.LockFollow(nums)
			return nums, true
		}
		s.checkpoints.Unlock()
	}
}

// lockToFollow is lockToClear for what a receiver drops: it waits for no unit.
func (s *Store) lockToFollow(nums []uint16) (sorted []uint16) {
	s.checkpoints.Lock()
	return s.latches.LockFollow(nums)
}

// unlockCleared lets go of what lockToClear has taken, or lockToFollow.
func (s *Store) unlockCleared(nums []uint16, follows bool) {
	s.latches.UnlockFollow(nums)
	if !follows {
		s.latches.Unlock(nums)
	}
	s.checkpoints.Unlock()
}
