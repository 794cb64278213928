package layout

import (
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
)

// A TokenSet is a set of tokens that is read by many and seldom changed. The zero
// tokenSet is empty.
type TokenSet struct {
	intervals atomic.Pointer[[]Interval] // in order, with gaps between them
}

// Contains reports whether a token is in the set.
func (ts *TokenSet) Contains(t ring.Token) bool {
	p := ts.intervals.Load()
	if p == nil {
		return false
	}
	return Find(*p, t) >= 0
}

// Change adds a range to the set or takes it away; one caller at a time.
func (ts *TokenSet) Change(r ring.Range, add bool) {
	var now []Interval
	if p := ts.intervals.Load(); p != nil {
		now = *p
	}
	for _, cut := range PiecesOf(r) { // now stays as it is: others read it
		var next []Interval
		for _, st := range now {
			if st.First < cut.First {
				next = append(next, Interval{st.First, min(st.Last, cut.First-1)})
			}
			if st.Last > cut.Last {
				next = append(next, Interval{max(st.First, cut.Last+1), st.Last})
			}
		}
		if add {
			next = append(next, cut)
		}
		now = Union(next)
	}
	ts.Set(now)
}

// Set makes the set that of intervals, which are in order with gaps between them. The caller
// does not change them any more.
func (ts *TokenSet) Set(sts []Interval) { ts.intervals.Store(&sts) }

// Intervals returns the set, which the caller does not change.
func (ts *TokenSet) Intervals() []Interval {
	if p := ts.intervals.Load(); p != nil {
		return *p
	}
	return nil
}
