package store

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Early says whether replies to the unit's changes leave without the word of the holding
// taps that these were handed to, once they are durable here. What the unit has read is
// waited for all the same, and so does everybody else wait who reads what it wrote. It
// holds until the next call.
func (u *Unit) Early(on bool) { u.early = on }

// Blind says that what is read from here on is not told, nor anything that follows from
// it: where the unit is early, nothing is waited for on its account. It holds until the
// next call, or the next Begin.
func (u *Unit) Blind(on bool) { u.blind = on }

// Held tells w once all that was handed over of some ranges so far, by holding taps, has
// been acknowledged, with an error that wraps ErrUnknown if a tap was closed before that.
// It may do so at once.
func (s *Store) Held(w Waiter, ranges ...ring.Range) {
	var open Unit
	if set := s.taps.Load(); set != nil {
		for i := range set.pieces {
			p := &set.pieces[i]
			if !slices.ContainsFunc(ranges, p.overlaps) {
				continue
			}
			if p.tap != nil {
				open.addSeen(p.tap, p.tap.last.Load())
			}
			for _, o := range p.open {
				open.addSeen(o.tap, o.number)
			}
		}
	}
	gate(w, open.seen).Settled(nil)
}

func (p *tapPiece) overlaps(r ring.Range) bool {
	return slices.ContainsFunc(layout.PiecesOf(r), func(st layout.Interval) bool { return st.First <= p.Last && st.Last >= p.First })
}
