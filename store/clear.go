package store

import (
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Clear removes every key. It takes the same time whatever the store holds; it
// waits for all units that hold latches; taps are told. w is told when it is durable; with an
// error, nothing was removed and w is not used. may, unless it is nil, is asked after that wait:
// its error is returned, and nothing is removed. It must not wait.
func (s *Store) Clear(w Waiter, may func() error) error {
	err := s.clear(w, may)
	if err == nil {
		s.relieve()
	}
	return err
}

func (s *Store) clear(w Waiter, may func() error) error {
	nums, _ := s.lockToClear(everyLatch(), true)
	defer s.unlockCleared(nums, false)
	s.commits.Lock()
	defer s.commits.Unlock()
	if err := s.Freeable(); err != nil {
		return err
	}
	if may != nil {
		if err := may(); err != nil {
			return err
		}
	}
	s.counts.beginTerm()
	b := s.db.NewBatch()
	for _, kind := range []byte{layout.KindData, layout.KindExpiry, layout.KindGarbage} {
		_ = b.DeleteRange([]byte{kind}, []byte{kind + 1}, nil)
	}
	s.counts.dropJournal(b)
	_ = b.Set(countKey, encodeNoCounts(s.counts.term), nil)
	_ = b.Delete(expiresKey, nil)
	s.latches.beginCommit(nums, committing)
	s.versions.emptied()
	err := s.db.Apply(b, pebble.NoSync)
	if err == nil {
		s.counts.reset()
		s.counts.oldest = s.counts.term
		s.crowd.Add(4 * crowdOverlap)
		s.cache.Clear()
		if taps := s.taps.Load(); taps != nil {
			w = s.tellDropped(taps, []ring.Range{ring.Whole}, nums, w)
		}
		s.latches.settle(nums, s.settler.add(b, w))
	}
	s.latches.endCommit(nums, committing)
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
			nums = s.latches.lockApart(nums)
		} else if nums, ok = s.latches.lockWithin(nums); !ok {
			return nums, false
		}
		s.latches.lockFollow(nums)
		if s.checkpoints.TryLock() {
			return nums, true
		}
		s.latches.unlockFollow(nums)
		s.latches.unlock(nums)
		s.checkpoints.Lock() // a checkpoint waits for no unit
		if _, ok := s.latches.tryLock(nums); ok {
			s.latches.lockFollow(nums)
			return nums, true
		}
		s.checkpoints.Unlock()
	}
}

// lockToFollow is lockToClear for what a receiver drops: it waits for no unit.
func (s *Store) lockToFollow(nums []uint16) (sorted []uint16) {
	s.checkpoints.Lock()
	return s.latches.lockFollow(nums)
}

// unlockCleared lets go of what lockToClear has taken, or lockToFollow.
func (s *Store) unlockCleared(nums []uint16, follows bool) {
	s.latches.unlockFollow(nums)
	if !follows {
		s.latches.unlock(nums)
	}
	s.checkpoints.Unlock()
}
