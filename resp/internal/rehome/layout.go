package rehome

import (
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// A cursor of SCAN stays below 2⁵³, since some clients keep it in a double. Where the policy of the database was never
// changed while there were keys, it is a cursor of the store, which has 52 bits. Else the bit above these is set, and
// below it stand the last two bits of the number of the layout, then the cursor of the store without its last two
// bits: such a scan ends a call at every fourth place only.
const (
	numbered     = store.Cursor(1) << 52
	numberShift  = 50
	numberModulo = 4
	placeShift   = 2
)

// A Layout is the places at which the keys of a database lie by one policy. A database whose keys move has two. SCAN
// goes over the old one first, then over the new one: a key that has left its old place before SCAN comes by is at
// its new place by then, and stays there. A cursor of the old layout that outlives the move starts
// again, in the new one.
//
// The zero value has all places, and keys of any head.
type Layout struct {
	Head  database.Head
	Named bool // only keys with the head are in it
	// Number is how often the policy had been changed when this became the layout. It tells a layout from a later one
	// with the same places.
	Number uint64
}

// layouts returns the layout of the present policy and, where keys move, that of the earlier one; otherwise the same
// one twice.
func layouts(p database.Policy) (now, first Layout) {
	if p.Flips == 0 {
		return Layout{}, Layout{}
	}
	now = Layout{Head: p.Head(), Named: true, Number: p.Flips}
	if !p.Moving {
		return now, now
	}
	return now, Layout{Head: p.Old().Head(), Named: true, Number: p.Flips - 1}
}

// LayoutOf returns the layout with a head, of the two that a policy may have.
func LayoutOf(p database.Policy, head database.Head) (Layout, bool) {
	now, first := layouts(p)
	if first.Head == head {
		return first, true
	}
	return now, now.Head == head
}

// LayoutAt returns the layout of a cursor, and the cursor within it. begins reports whether the cursor is at the
// first place of the layout. The cursor of a layout that is not there any more, or that this node has not heard of yet,
// begins again.
func LayoutAt(p database.Policy, cursor store.Cursor) (l Layout, at store.Cursor, begins bool) {
	now, first := layouts(p)
	at, number := cursor, uint64(0)
	is := func(l Layout) bool { return l.Number == number }
	if cursor&numbered != 0 {
		at, number = cursor&(1<<numberShift-1)<<placeShift, uint64(cursor>>numberShift)%numberModulo
		is = func(l Layout) bool { return l.Number%numberModulo == number }
	}
	switch {
	case cursor == 0:
	case is(now):
		return now, at, at == 0
	case is(first):
		return first, at, at == 0
	}
	return first, 0, true
}

// Next returns the layout that follows by a policy; false if there is none. For a layout that is not there any more, it
// is the first one.
func (l Layout) Next(p database.Policy) (Layout, bool) {
	now, first := layouts(p)
	if !l.In(p) {
		return first, true
	}
	return now, now != l
}

// In reports whether the layout is one that a policy has.
func (l Layout) In(p database.Policy) bool {
	now, first := layouts(p)
	return l == now || l == first
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
	// Flips is the number of changes of the policy that the scan knows. A node that knows of another number lists nothing,
	// since a key may be at the other place there.
	Flips uint64
	// Token is that of stored keys.
	Token func(stored []byte) ring.Token
}

// Start goes to a cursor that a client has sent.
func (c *Course) Start(p database.Policy, cursor store.Cursor) {
	c.Flips = p.Flips
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
	c.Flips = p.Flips
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
	case !c.Layout.Named:
		return c.At
	}
	return numbered | store.Cursor(c.Layout.Number%numberModulo)<<numberShift | c.At>>placeShift
}

// MayPause reports whether a cursor can tell where the scan is.
func (c *Course) MayPause() bool {
	return !c.Layout.Named || c.At%(1<<placeShift) == 0
}
