package layout

import (
	"sync/atomic"

	"github.com/ringside-kv/ringside/ring"
)

// A TokenSet is a set of tokens that is read by many and seldom changed. The zero
// TokenSet is empty.
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
