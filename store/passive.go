package store

import (
	"cmp"
	"slices"
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
)

// A tokenSet is a set of tokens that is read by many and seldom changed. The zero
// tokenSet is empty.
type tokenSet struct {
	stretches atomic.Pointer[[]stretch] // in order, with gaps between them
}

func (ts *tokenSet) contains(t ring.Token) bool {
	p := ts.stretches.Load()
	if p == nil {
		return false
	}
	return find(*p, t) >= 0
}

// find returns which of the stretches, which are in order, holds a token, or -1.
func find(sts []stretch, t ring.Token) int {
	i, ok := slices.BinarySearchFunc(sts, t, func(st stretch, t ring.Token) int {
		switch {
		case st.last.Token() < t:
			return -1
		case st.first.Token() > t:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return i
}

// change adds a range to the set or takes it away; one caller at a time.
func (ts *tokenSet) change(r ring.Range, add bool) {
	var now []stretch
	if p := ts.stretches.Load(); p != nil {
		now = *p
	}
	for _, cut := range stretches(r) { // now stays as it is: others read it
		var next []stretch
		for _, st := range now {
			if st.first < cut.first {
				next = append(next, stretch{st.first, min(st.last, cut.first-1)})
			}
			if st.last > cut.last {
				next = append(next, stretch{max(st.first, cut.last+1), st.last})
			}
		}
		if add {
			next = append(next, cut)
		}
		now = union(next)
	}
	if len(now) == 0 {
		ts.stretches.Store(nil)
		return
	}
	ts.stretches.Store(&now)
}

// union returns the places of some stretches, which it reorders, as stretches in order
// with gaps between them.
func union(sts []stretch) []stretch {
	slices.SortFunc(sts, func(a, b stretch) int { return cmp.Compare(a.first, b.first) })
	out := sts[:0]
	for _, st := range sts {
		if n := len(out); n > 0 && (out[n-1].last == ^Place(0) || out[n-1].last+1 >= st.first) {
			out[n-1].last = max(out[n-1].last, st.last)
			continue
		}
		out = append(out, st)
	}
	return out
}

// SetPassive says whether this store only follows another in a range. In a passive
// range nothing is removed because its time has come, neither in the background nor
// by a read, which does not see it all the same; what deletes it is the other
// store's batch. A unit that would have to write where it cannot remove such a key
// fails with ErrPassive. It holds for units that begin after SetPassive returns; a
// store that is opened is passive nowhere.
func (s *Store) SetPassive(r ring.Range, passive bool) {
	s.tapsMu.Lock()
	defer s.tapsMu.Unlock()
	s.passive.change(r, passive)
	if !passive {
		s.overdue.Store(true)
	}
}

// SetActive makes the store passive everywhere but in some ranges.
func (s *Store) SetActive(ranges ...ring.Range) {
	s.tapsMu.Lock()
	defer s.tapsMu.Unlock()
	var active []stretch
	for _, r := range ranges {
		active = append(active, stretches(r)...)
	}
	passive := []stretch{}
	next, full := Place(0), false
	for _, st := range union(active) {
		if st.first > next {
			passive = append(passive, stretch{next, st.first - 1})
		}
		next, full = st.last+1, st.last == ^Place(0)
	}
	if !full {
		passive = append(passive, stretch{next, ^Place(0)})
	}
	s.passive.stretches.Store(&passive)
	s.overdue.Store(true)
}
