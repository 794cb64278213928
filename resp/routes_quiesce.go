package resp

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/running"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// Before a range changes hands nothing may run on it any more. Each connection notes by
// which routes its unit runs and which tokens that touches, in one word, so that a unit
// which takes long, a script for instance, holds up the ranges of its keys alone.

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
			if w := c.running.Load(); !w.Before(r.term) || !w.TouchesAnyOf(ranges) {
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
func occupiedOf(conns []*conn, r *Routes, ranges []ring.Range) []ring.Range {
	marks := make([]running.Mark, len(conns))
	for i, c := range conns {
		marks[i] = c.running.Load()
	}
	return running.Occupied(marks, r.term, ranges)
}

// enter takes the routes by which the next unit goes; nil on a lone node. leave ends
// it.
func (c *conn) enter() *Routes {
	c.leased.mark(c.srv)
	for {
		c.routes = c.srv.routes.Load()
		if c.routes == nil {
			return nil
		}
		c.running.Store(running.By(c.routes.term))
		if c.srv.routes.Load() == c.routes {
			return c.routes
		}
	}
}

func (c *conn) leave() { c.running.Store(0) }

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
		c.running.Store(running.By(c.routes.term).On(c.touched))
	}
}

// touchAny says that the unit may touch any token from here on. Whether the node serves these is
// for the caller to see afterwards, by the routes of that moment: while they are followed by
// others, Quiesce waits for this unit.
func (c *conn) touchAny() {
	if c.routes != nil {
		c.running.Store(running.By(c.routes.term))
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
