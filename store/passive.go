package store

import (
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// SetActive says in which ranges this store deletes what has expired. All others are passive: this store is a
// backup there, and deletes an expired key only when the primary's batch does. Reads do not show the key
// before that either. A unit that would have to delete it first, to write the same key, fails with ErrPassive.
// It holds for units that begin after SetActive returns. A store that has just been opened is active everywhere.
func (s *Store) SetActive(ranges ...ring.Range) {
	s.passiveMu.Lock()
	defer s.passiveMu.Unlock()
	s.passive.Set(layout.Complement(layout.UnionOf(ranges)))
	s.counts.SetPassive(s.passive.Intervals())
	s.expirer.rescan.Store(true)
}
