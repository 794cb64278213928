package store

import (
	"errors"
	"slices"
	"time"
)

// ErrHeld says that what was written or read is not wherever it must be, and may be before long: a
// [Tap] has not said so in time. What was written stays and stays held.
var ErrHeld = errors.New("not acknowledged in time")

// GiveUpHeld fails all replies that a tap has held for longer than a limit, with ErrHeld.
// Somebody calls it now and then; how often is how exact the limit is.
func (s *Store) GiveUpHeld(limit time.Duration) {
	set := s.taps.Load()
	if set == nil {
		return
	}
	taps := set.all()
	for i := range set.pieces {
		for _, o := range set.pieces[i].open {
			if !slices.Contains(taps, o.tap) {
				taps = append(taps, o.tap)
			}
		}
	}
	before := time.Now().Add(-limit)
	for _, t := range taps {
		t.held.giveUp(before)
	}
}

// giveUp fails those who have waited since before a time.
func (h *holding) giveUp(before time.Time) {
	var late []Waiter
	h.mu.Lock()
	h.waiting = slices.DeleteFunc(h.waiting, func(w heldWaiter) bool {
		if w.since.Before(before) {
			late = append(late, w.waiter)
			return true
		}
		return false
	})
	h.mu.Unlock()
	for _, w := range late {
		w.Settled(ErrHeld)
	}
}
