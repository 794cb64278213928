package tap

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Set is all taps of a store; it does not change.
type Set struct {
	pieces []Piece // in order, without overlaps
	index  *layout.TokenIndex
}

// A Piece is the taps of an interval of places.
type Piece struct {
	layout.Interval
	tap    *Tap   // that holds it; nil: none
	since  uint64 // the change of taps that gave it to tap, or a later one
	listen []*Tap
	// open is what was handed to taps that held it before and had not acknowledged it:
	// the newest change of each.
	open []change
}

// Find returns the piece of a token, or nil.
func (ts *Set) Find(t ring.Token) *Piece {
	if i := ts.index.Find(t); i >= 0 {
		return &ts.pieces[i]
	}
	return nil
}

// Holder returns the tap that holds the piece.
func (p *Piece) Holder() Holder {
	if p.tap == nil {
		return Holder{}
	}
	return Holder{p.tap, p.since}
}

// Slow lets every tap in whose ranges a place lies hold its goroutine back.
func (ts *Set) Slow(places []layout.Place) {
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
		if piece := ts.Find(p.Token()); piece != nil {
			ask(piece.tap)
			for _, t := range piece.listen {
				ask(t)
			}
		}
	}
}

// Overlap reports whether any tap has a part in an interval.
func (ts *Set) Overlap(st layout.Interval) bool {
	return slices.ContainsFunc(ts.pieces, func(p Piece) bool {
		return st.First <= p.Last && st.Last >= p.First && (p.tap != nil || len(p.listen) > 0)
	})
}

// All returns each tap once.
func (ts *Set) All() (taps []*Tap) {
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

// Of returns the pieces of a tap.
func (ts *Set) Of(t *Tap) (pieces []layout.Interval) {
	for i := range ts.pieces {
		if p := &ts.pieces[i]; p.tap == t || slices.Contains(p.listen, t) {
			pieces = append(pieces, p.Interval)
		}
	}
	return pieces
}

// change replaces the set of taps by one that change makes of it; with an error of
// change it stays. at is called at the moment of the change, if it is not nil: whatever
// is handed over by then was by the old set.
func (r *Registry) change(at func(), change func(*cells) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	// A committer looks at the taps, and hands over, while commits is held for reading.
	r.commits.Lock()
	defer r.commits.Unlock()
	r.turn++
	c := &cells{turn: r.turn}
	if set := r.set.Load(); set != nil {
		c.pieces = make([]Piece, 0, len(set.pieces)+4) // most changes cut two
		for _, p := range set.pieces {
			p.listen, p.open = slices.Clone(p.listen), slices.Clone(p.open)
			c.pieces = append(c.pieces, p)
		}
	}
	if err := change(c); err != nil {
		return err
	}
	r.set.Store(c.set())
	if at != nil {
		at()
	}
	return nil
}

// cells are the pieces of a set that is being made, in order.
type cells struct {
	pieces []Piece
	turn   uint64 // number of the change
}

// each calls visit for the pieces of a range, which are cut, or made, so that they lie
// in it whole, until visit returns false.
func (c *cells) each(r ring.Range, visit func(*Piece) bool) bool {
	for _, st := range layout.PiecesOf(r) {
		c.cut(st.First)
		if st.Last != ^layout.Place(0) {
			c.cut(st.Last + 1)
		}
		i := c.at(st.First)
		for next := st.First; ; i++ {
			if i == len(c.pieces) || c.pieces[i].First > next {
				last := st.Last
				if i < len(c.pieces) {
					last = min(last, c.pieces[i].First-1)
				}
				c.pieces = slices.Insert(c.pieces, i, Piece{Interval: layout.Interval{First: next, Last: last}})
			}
			if !visit(&c.pieces[i]) {
				return false
			}
			if c.pieces[i].Last == st.Last {
				break
			}
			next = c.pieces[i].Last + 1
		}
	}
	return true
}

// at returns the number of the first piece that ends at a place or behind it.
func (c *cells) at(p layout.Place) int {
	i, _ := slices.BinarySearchFunc(c.pieces, p, func(piece Piece, p layout.Place) int { return cmp.Compare(piece.Last, p) })
	return i
}

// cut makes a place the first of its piece, if it lies in one.
func (c *cells) cut(p layout.Place) {
	i := c.at(p)
	if i == len(c.pieces) || c.pieces[i].First >= p {
		return
	}
	tail := c.pieces[i]
	tail.listen, tail.open = slices.Clone(tail.listen), slices.Clone(tail.open)
	c.pieces[i].Last, tail.First = p-1, p
	c.pieces = slices.Insert(c.pieces, i+1, tail)
}

// hold gives a range to a holding tap.
func (c *cells) hold(r ring.Range, t *Tap) {
	c.each(r, func(p *Piece) bool {
		if p.tap != t {
			p.leave()
			p.tap, p.since = t, c.turn
		}
		return true
	})
}

// leave takes a piece from the tap that holds it.
func (p *Piece) leave() {
	if p.tap == nil {
		return
	}
	h := change{p.tap, p.tap.last.Load()}
	if i := slices.IndexFunc(p.open, func(o change) bool { return o.tap == h.tap }); i >= 0 {
		p.open[i] = h
	} else {
		p.open = append(p.open, h)
	}
	p.tap = nil
}

func (c *cells) listen(r ring.Range, t *Tap) {
	c.each(r, func(p *Piece) bool {
		if !slices.Contains(p.listen, t) {
			p.listen = append(p.listen, t)
		}
		return true
	})
}

// forget takes all their pieces from taps.
func (c *cells) forget(taps ...*Tap) {
	ends := make(map[*Tap]bool, len(taps))
	for _, t := range taps {
		ends[t] = true
	}
	if len(ends) == 0 {
		return
	}
	for i := range c.pieces {
		p := &c.pieces[i]
		if ends[p.tap] {
			p.leave()
		}
		p.listen = slices.DeleteFunc(p.listen, func(l *Tap) bool { return ends[l] })
	}
}

// set returns what the cells come to: without those that nobody taps, and without
// promises that are kept, or will never be where nobody asks any more.
func (c *cells) set() *Set {
	ts := &Set{pieces: make([]Piece, 0, len(c.pieces))}
	spans := make([]layout.TokenSpan, 0, len(c.pieces))
	for i := range c.pieces {
		p := c.pieces[i]
		p.open = slices.Clip(slices.DeleteFunc(p.open, func(o change) bool {
			return o.tap.held.acked(o.number) || p.tap == nil && o.tap.held.failed()
		}))
		if p.tap == nil && len(p.listen) == 0 && len(p.open) == 0 {
			continue
		}
		if n := len(ts.pieces); n > 0 && ts.pieces[n-1].joins(&p) {
			ts.pieces[n-1].Last = p.Last
			ts.pieces[n-1].since = max(ts.pieces[n-1].since, p.since)
			spans[n-1].Last = p.Last.Token()
			continue
		}
		ts.pieces = append(ts.pieces, p)
		spans = append(spans, layout.TokenSpan{First: p.First.Token(), Last: p.Last.Token()})
	}
	if len(ts.pieces) == 0 {
		return nil
	}
	ts.index = layout.NewTokenIndex(spans)
	return ts
}

// joins reports whether a piece and the next can be one.
func (p *Piece) joins(next *Piece) bool {
	return p.Last+1 == next.First && p.tap == next.tap &&
		slices.Equal(p.listen, next.listen) && slices.Equal(p.open, next.open)
}

// HasOpen reports whether a tap has not acknowledged what it was handed of a piece that it holds no
// more.
func (ts *Set) HasOpen() bool {
	return slices.ContainsFunc(ts.pieces, func(p Piece) bool { return len(p.open) > 0 })
}

// WithoutHolder returns the piece as if no tap held it.
func (p Piece) WithoutHolder() Piece {
	p.tap = nil
	return p
}
