package rehome

import (
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// turned is the bit of a cursor of SCAN that tells in which of two layouts it goes. Cursors stay below 2⁵³, since some
// clients keep them in a double.
const turned = database.End

// A Layout is the places at which the keys of a database lie by one policy. A database whose keys move has two. SCAN
// goes over the old one first, then over the new one: a key that has left its old place before SCAN comes by is at
// its new place by then, and stays there. A cursor of the old layout that outlives the move starts
// again, in the new one.
//
// The zero value has all places, and keys of any head.
type Layout struct {
	Head  database.Head
	Named bool // only keys with the head are in it
	bit   store.Cursor
}

// LayoutAt returns the layout of a cursor, and the cursor within it. begins reports whether the cursor is at the
// first place of the layout.
func LayoutAt(p database.Policy, cursor store.Cursor) (l Layout, at store.Cursor, begins bool) {
	if p.Flips == 0 {
		return Layout{}, cursor, cursor == 0
	}
	now := Layout{p.Head(), true, store.Cursor(p.Flips%2) * turned}
	old := Layout{p.Old().Head(), true, turned - now.bit}
	at = cursor &^ turned
	switch {
	case cursor != 0 && cursor&turned == now.bit:
		return now, at, at == 0
	case cursor != 0 && p.Moving:
		return old, at, at == 0
	case p.Moving:
		return old, 0, true
	}
	return now, 0, true
}

// Next returns the layout that follows by a policy; false if there is none. It is also what follows a layout that is not
// there any more.
func (l Layout) Next(p database.Policy) (Layout, bool) {
	now, _, _ := LayoutAt(database.Policy{Number: p.Number, Together: p.Together, Spot: p.Spot, Flips: p.Flips}, 0)
	return now, p.Flips > 0 && now != l
}

// In reports whether the layout is one that a policy has.
func (l Layout) In(p database.Policy) bool {
	if p.Flips == 0 {
		return !l.Named
	}
	return l.Named && (l.Head == p.Head() || p.Moving && l.Head == p.Old().Head())
}

// Lists reports whether a scan of the layout lists a stored key. In the new layout it lists copies that do not count yet,
// too: the node may not have heard yet that they do.
func (l Layout) Lists(policies *database.Policies, stored []byte) bool {
	if !l.Named {
		return policies.Serves(stored)
	}
	head := database.HeadOf(stored)
	if head != l.Head {
		return false
	}
	p := policies.Of(head.Number())
	switch {
	case !p.Moving:
		return true
	case head == p.Head():
		return policies.Position(stored) < p.Move.Until
	}
	return policies.Position(stored) >= p.Move.Cursor
}

// A Course is how far a scan has come.
type Course struct {
	Layout Layout
	// At is the first place that was not visited yet. Where Fresh is set, that is the first place of the layout, which may
	// be 0; otherwise 0 is the end.
	At    store.Cursor
	Fresh bool
	// Token is that of stored keys.
	Token func(stored []byte) ring.Token
}

// Start goes to a cursor that a client has sent.
func (c *Course) Start(p database.Policy, cursor store.Cursor) {
	if c.Layout, c.At, c.Fresh = LayoutAt(p, cursor); c.Fresh {
		c.begin(c.Layout)
	}
	c.confine()
}

// confine goes to the next place of a layout whose keys lie together.
func (c *Course) confine() {
	if !c.Layout.Head.Together() || c.Ended() {
		return
	}
	switch token := c.token(); {
	case c.At.Token() < token:
		c.At = store.CursorAt(token)
	case c.At.Token() > token:
		c.At, c.Fresh = 0, false
	}
}

// begin goes to the first place of a layout.
func (c *Course) begin(l Layout) {
	if c.Layout, c.At, c.Fresh = l, 0, true; l.Head.Together() {
		c.At = store.CursorAt(c.token())
	}
}

// token is that of a layout whose keys lie together.
func (c *Course) token() ring.Token { return c.Token(database.AppendKey(nil, c.Layout.Head, nil)) }

// Ended reports whether the scan has come to the end of its layout.
func (c *Course) Ended() bool { return c.At == 0 && !c.Fresh }

// Follow has the scan go on by the present policy, and from the end of one layout to the next.
func (c *Course) Follow(p database.Policy) {
	if !c.Layout.Named && p.Flips > 0 && !c.Ended() { // keys have begun to move
		c.Start(p, c.At)
	}
	if next, more := c.Layout.Next(p); !c.Layout.In(p) || c.Ended() && more {
		c.begin(next)
	}
}

// Span returns the part of a span to which the layout is confined.
func (c *Course) Span(span ring.Range) ring.Range {
	if c.Layout.Head.Together() {
		return ring.Range{Start: c.At.Token(), End: c.At.Token() + 1}
	}
	return span
}

// Visited notes that a scan of a span has come to a cursor, and whether the span has ended there.
func (c *Course) Visited(next store.Cursor, ended bool) {
	if c.At, c.Fresh = next, false; ended && c.Layout.Head.Together() {
		c.At = 0
	}
}

// Cursor returns the cursor for the client.
func (c *Course) Cursor() store.Cursor {
	switch {
	case c.Ended():
		return 0
	case c.At|c.Layout.bit == 0: // begun, which a cursor of 0 does not tell: the end of the other layout does
		return turned | (turned - 1)
	}
	return c.At | c.Layout.bit
}
