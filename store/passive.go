package store

import (
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// SetPassive says whether this store only follows another in a range. In a passive
// range nothing is removed because its time has come, neither in the background nor
// by a read, which does not see it all the same; what deletes it is the other
// store's batch. A unit that would have to write where it cannot remove such a key
// fails with ErrPassive. It holds for units that begin after SetPassive returns; a
// store that is opened is passive nowhere.
func (s *Store) SetPassive(r ring.Range, passive bool) {
	s.passiveMu.Lock()
	defer s.passiveMu.Unlock()
	s.passive.Change(r, passive)
	s.counts.SetPassive(s.passive.Intervals())
	if !passive {
		s.expirer.rescan.Store(true)
	}
}

// SetActive makes the store passive everywhere but in some ranges.
func (s *Store) SetActive(ranges ...ring.Range) {
	s.passiveMu.Lock()
	defer s.passiveMu.Unlock()
	s.passive.Set(layout.Complement(layout.UnionOf(ranges)))
	s.counts.SetPassive(s.passive.Intervals())
	s.expirer.rescan.Store(true)
}
