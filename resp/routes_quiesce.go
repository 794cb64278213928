package resp

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// Before a range changes hands nothing may run on it any more. Each connection notes by
// which routes its unit runs and which tokens that touches, in one word, so that a unit
// which takes long, a script for instance, holds up the ranges of its keys alone.

// A running is what a connection notes of its unit: a kind in the two top bits, the low 30
// bits of the term of its routes, and in the low 32 bits what the kind says. 0: no unit runs.
type running uint64

const (
	touchesAny    = 1 << 62 // of all tokens; that is so until the keys are known
	touchesToken  = 2 << 62 // of the token in the low bits
	touchesPieces = 3 << 62 // of the 32nds of all tokens of which the low bits are a set

	runningTerm = 1<<30 - 1
	// pieceBits is by how much a token is shifted to give the 32nd that it lies in.
	pieceBits = 32 - 5
)

func runningBy(term uint64) running { return running(touchesAny | term&runningTerm<<32) }

// on narrows a unit down to places.
func (w running) on(places []store.Place) running {
	term := w & (runningTerm << 32)
	first, pieces, same := ring.Token(0), uint32(0), true
	for i, p := range places {
		t := p.Token()
		if i == 0 {
			first = t
		}
		same = same && t == first
		pieces |= 1 << (t >> pieceBits)
	}
	if same && len(places) > 0 {
		return touchesToken | term | running(first)
	}
	return touchesPieces | term | running(pieces)
}

// before tells whether the unit runs by routes that are older than those of a term.
func (w running) before(term uint64) bool {
	age := (term - uint64(w>>32)) & runningTerm
	return w != 0 && age != 0 && age <= runningTerm/2
}

// touches tells whether the unit may touch a range.
func (w running) touches(r ring.Range) bool {
	switch uint64(w) &^ (1<<62 - 1) {
	case touchesToken:
		return r.Contains(ring.Token(w))
	case touchesPieces:
		return uint32(w)&piecesOf(r) != 0
	}
	return true
}

// piecesOf returns the set of 32nds of all tokens that a range has a part in.
func piecesOf(r ring.Range) (pieces uint32) {
	if r.Len() > 31<<pieceBits {
		return ^uint32(0)
	}
	last := (r.End - 1) >> pieceBits
	for piece := r.Start >> pieceBits; ; piece = (piece + 1) % 32 {
		if pieces |= 1 << piece; piece == last {
			return pieces
		}
	}
}

func (w running) touchesAnyOf(ranges []ring.Range) bool {
	for _, r := range ranges {
		if w.touches(r) {
			return true
		}
	}
	return false
}

// Quiesce returns once no unit runs any more on some ranges that began under earlier routes
// than the present ones: whoever asks afterwards is asked under these; and other nodes'
// clients have been told to forget what was read here. It waits for units and nodes, never
// for clients. When ctx ends first it returns which of the ranges units are still running on.
//
// Invariant: a connection notes the term of the routes before it looks again whether
// they are still the present ones, and goes by them only then. So either Quiesce sees
// the term, or the connection sees the new routes. The connection says which tokens its unit
// touches only later, in the same word, when it has the latches of their keys; until then
// it counts for all ranges. What a unit touches beyond that it says by roam beforehand.
func (s *Server) Quiesce(ctx context.Context, ranges ...ring.Range) (occupied []ring.Range, err error) {
	r := s.routes.Load()
	if r == nil {
		return nil, nil
	}
	conns := append(s.snapshot(), s.forwards.running()...)
	for _, c := range conns {
		for {
			if w := c.running.load(); !w.before(r.term) || !w.touchesAnyOf(ranges) {
				break
			}
			select {
			case <-ctx.Done():
				return occupiedOf(conns, r, ranges), ctx.Err()
			case <-time.After(50 * time.Microsecond):
			}
		}
	}
	// What they have entered for other nodes is theirs to hear of, too.
	select {
	case <-s.tracking.everything().over():
		return nil, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// occupiedOf returns the ranges on which units run by routes older than r.
func occupiedOf(conns []*conn, r *Routes, ranges []ring.Range) (occupied []ring.Range) {
	var old []running
	for _, c := range conns {
		if w := c.running.load(); w.before(r.term) {
			old = append(old, w)
		}
	}
	for _, at := range ranges {
		for _, w := range old {
			if w.touches(at) {
				occupied = append(occupied, at)
				break
			}
		}
	}
	return occupied
}

// A runningNote is the running of a connection, which alone stores it.
type runningNote struct{ word atomic.Uint64 }

func (n *runningNote) load() running   { return running(n.word.Load()) }
func (n *runningNote) store(w running) { n.word.Store(uint64(w)) }

// enter takes the routes by which the next unit goes; nil on a lone node. leave ends
// it.
func (c *conn) enter() *Routes {
	c.leased.mark(c.srv)
	for {
		c.routes = c.srv.routes.Load()
		if c.routes == nil {
			return nil
		}
		c.running.store(runningBy(c.routes.term))
		if c.srv.routes.Load() == c.routes {
			return c.routes
		}
	}
}

func (c *conn) leave() { c.running.store(0) }

// reenter is enter for a unit that has left to wait for something. It returns false, and
// has left, if the routes by which its requests were gathered are not the present ones.
func (c *conn) reenter(routes *Routes) bool {
	if c.enter() == routes {
		return true
	}
	c.leave()
	return false
}

// declareTouched says that the unit touches what it has gathered.
func (c *conn) declareTouched() {
	if c.routes != nil && !c.every {
		c.running.store(runningBy(c.routes.term).on(c.touched))
	}
}

// touchAny says that the unit may touch any token from here on. Whether the node serves these is
// for the caller to see afterwards, by the routes of that moment: while they are followed by
// others, Quiesce waits for this unit.
func (c *conn) touchAny() {
	if c.routes != nil {
		c.running.store(runningBy(c.routes.term))
	}
}

// touches tells whether the unit has said that it touches a place.
func (c *conn) touches(p store.Place) bool {
	if c.every || c.routes == nil {
		return true
	}
	for _, q := range c.touched {
		if p.Token() == q.Token() {
			return true
		}
	}
	return false
}

// spansNodes tells whether other nodes serve keys. If not, the unit may touch any.
func (c *conn) spansNodes() bool {
	if c.routes != nil && len(c.routes.links) > 0 {
		return true
	}
	c.touchAny()
	routes := c.srv.routes.Load()
	return routes != nil && len(routes.links) > 0
}
