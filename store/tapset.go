package store

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// A tapSet is all taps of a store; it does not change.
type tapSet struct {
	pieces []tapPiece // in order, without overlaps
	index  *spanIndex
}

// A tapPiece is the taps of a stretch of places.
type tapPiece struct {
	stretch
	tap    *Tap   // that holds it; nil: none
	since  uint64 // the change of taps that gave it to tap, or a later one
	listen []*Tap
	// open is what was handed to taps that held it before and had not acknowledged it:
	// the newest change of each.
	open []heldChange
}

// find returns the piece of a token, or nil.
func (ts *tapSet) find(t ring.Token) *tapPiece {
	if i := ts.index.find(t); i >= 0 {
		return &ts.pieces[i]
	}
	return nil
}

// holder returns who holds the piece.
func (p *tapPiece) holder() holder {
	if p.tap == nil {
		return holder{}
	}
	return holder{p.tap, p.since}
}

// slow lets every tap in whose ranges a place lies hold its goroutine back.
func (ts *tapSet) slow(places []Place) {
	var room [8]*Tap
	asked := room[:0]
	ask := func(t *Tap) {
		if t == nil || slices.Contains(asked, t) {
			return
		}
		asked = append(asked, t)
		if wait := t.pace.Load(); wait != nil {
			(*wait)()
		}
	}
	for _, p := range places {
		if piece := ts.find(p.Token()); piece != nil {
			ask(piece.tap)
			for _, t := range piece.listen {
				ask(t)
			}
		}
	}
}

// overlap reports whether any tap has a part in a stretch.
func (ts *tapSet) overlap(st stretch) bool {
	return slices.ContainsFunc(ts.pieces, func(p tapPiece) bool {
		return st.first <= p.last && st.last >= p.first && (p.tap != nil || len(p.listen) > 0)
	})
}

// all returns each tap once.
func (ts *tapSet) all() (taps []*Tap) {
	add := func(t *Tap) {
		if t != nil && !slices.Contains(taps, t) {
			taps = append(taps, t)
		}
	}
	for i := range ts.pieces {
		p := &ts.pieces[i]
		add(p.tap)
		for _, t := range p.listen {
			add(t)
		}
	}
	return taps
}

// of returns the pieces of a tap.
func (ts *tapSet) of(t *Tap) (pieces []stretch) {
	for i := range ts.pieces {
		if p := &ts.pieces[i]; p.tap == t || slices.Contains(p.listen, t) {
			pieces = append(pieces, p.stretch)
		}
	}
	return pieces
}

// changeTaps replaces the set of taps by one that change makes of it; with an error of
// change it stays. at is called at the moment of the change, if it is not nil: whatever
// is handed over by then was by the old set.
func (s *Store) changeTaps(at func(), change func(*tapCells) error) error {
	s.tapsMu.Lock()
	defer s.tapsMu.Unlock()
	// Whoever commits looks at the taps, and hands over, while commits is held for
	// reading.
	s.commits.Lock()
	defer s.commits.Unlock()
	s.tapTurn++
	c := &tapCells{turn: s.tapTurn}
	if set := s.taps.Load(); set != nil {
		for _, p := range set.pieces {
			p.listen, p.open = slices.Clone(p.listen), slices.Clone(p.open)
			c.pieces = append(c.pieces, p)
		}
	}
	if err := change(c); err != nil {
		return err
	}
	s.taps.Store(c.set())
	if at != nil {
		at()
	}
	return nil
}

// tapCells are the pieces of a set that is being made, in order.
type tapCells struct {
	pieces []tapPiece
	turn   uint64 // number of the change
}

// each calls visit for the pieces of a range, which are cut, or made, so that they lie
// in it whole, until visit returns false.
func (c *tapCells) each(r ring.Range, visit func(*tapPiece) bool) bool {
	for _, st := range stretches(r) {
		c.cut(st.first)
		if st.last != ^Place(0) {
			c.cut(st.last + 1)
		}
		i := c.at(st.first)
		for next := st.first; ; i++ {
			if i == len(c.pieces) || c.pieces[i].first > next {
				last := st.last
				if i < len(c.pieces) {
					last = min(last, c.pieces[i].first-1)
				}
				c.pieces = slices.Insert(c.pieces, i, tapPiece{stretch: stretch{next, last}})
			}
			if !visit(&c.pieces[i]) {
				return false
			}
			if c.pieces[i].last == st.last {
				break
			}
			next = c.pieces[i].last + 1
		}
	}
	return true
}

// at returns the number of the first piece that ends at a place or behind it.
func (c *tapCells) at(p Place) int {
	i, _ := slices.BinarySearchFunc(c.pieces, p, func(piece tapPiece, p Place) int { return cmp.Compare(piece.last, p) })
	return i
}

// cut makes a place the first of its piece, if it lies in one.
func (c *tapCells) cut(p Place) {
	i := c.at(p)
	if i == len(c.pieces) || c.pieces[i].first >= p {
		return
	}
	tail := c.pieces[i]
	tail.listen, tail.open = slices.Clone(tail.listen), slices.Clone(tail.open)
	c.pieces[i].last, tail.first = p-1, p
	c.pieces = slices.Insert(c.pieces, i+1, tail)
}

// hold gives a range to a holding tap.
func (c *tapCells) hold(r ring.Range, t *Tap) {
	c.each(r, func(p *tapPiece) bool {
		if p.tap != t {
			p.leave()
			p.tap, p.since = t, c.turn
		}
		return true
	})
}

// leave takes a piece from the tap that holds it.
func (p *tapPiece) leave() {
	if p.tap == nil {
		return
	}
	h := heldChange{p.tap, p.tap.last.Load()}
	if i := slices.IndexFunc(p.open, func(o heldChange) bool { return o.tap == h.tap }); i >= 0 {
		p.open[i] = h
	} else {
		p.open = append(p.open, h)
	}
	p.tap = nil
}

func (c *tapCells) listen(r ring.Range, t *Tap) {
	c.each(r, func(p *tapPiece) bool {
		if !slices.Contains(p.listen, t) {
			p.listen = append(p.listen, t)
		}
		return true
	})
}

// forget takes all its pieces from a tap.
func (c *tapCells) forget(t *Tap) {
	for i := range c.pieces {
		p := &c.pieces[i]
		if p.tap == t {
			p.leave()
		}
		p.listen = slices.DeleteFunc(p.listen, func(l *Tap) bool { return l == t })
	}
}

// set returns what the cells come to: without those that nobody taps, and without
// promises that are kept, or will never be where nobody asks any more.
func (c *tapCells) set() *tapSet {
	ts := &tapSet{}
	var spans []tokenSpan
	for i := range c.pieces {
		p := c.pieces[i]
		p.open = slices.Clip(slices.DeleteFunc(p.open, func(o heldChange) bool {
			return o.tap.held.acked(o.number) || p.tap == nil && o.tap.held.failed()
		}))
		if p.tap == nil && len(p.listen) == 0 && len(p.open) == 0 {
			continue
		}
		if n := len(ts.pieces); n > 0 && ts.pieces[n-1].joins(&p) {
			ts.pieces[n-1].last = p.last
			ts.pieces[n-1].since = max(ts.pieces[n-1].since, p.since)
			spans[n-1].last = p.last.Token()
			continue
		}
		ts.pieces = append(ts.pieces, p)
		spans = append(spans, tokenSpan{p.first.Token(), p.last.Token()})
	}
	if len(ts.pieces) == 0 {
		return nil
	}
	ts.index = newSpanIndex(spans)
	return ts
}

// joins reports whether a piece and the next can be one.
func (p *tapPiece) joins(next *tapPiece) bool {
	return p.last+1 == next.first && p.tap == next.tap &&
		slices.Equal(p.listen, next.listen) && slices.Equal(p.open, next.open)
}
