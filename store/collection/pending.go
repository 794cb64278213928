package collection

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/store"
)

// A Pending is an entry that was delivered to a consumer, which has not acknowledged it.
type Pending struct {
	ID ID
	// Time is when it was last delivered, in ms since 1970, Count how often.
	Time     int64
	Count    uint64
	Consumer []byte
}

// CountDelivery notes one delivery more.
func (p *Pending) CountDelivery() {
	if p.Count < math.MaxInt64 { // which XNACK FATAL sets
		p.Count++
	}
}

func (p *Pending) append(dst []byte) []byte {
	dst = binary.AppendUvarint(binary.AppendVarint(dst, p.Time), p.Count)
	return append(dst, p.Consumer...)
}

func (p *Pending) parse(b []byte) error {
	r := numbers{b: b}
	p.Time, p.Count = r.varint(), r.uvarint()
	p.Consumer = slices.Clone(r.b)
	return r.err
}

// pendingKey returns the sub key under which a group has what is pending.
func (g *Group) pendingKey(id ID) []byte {
	return id.append(prefixed([]byte{kindPending}, g.name))
}

func (g *Group) ownedPrefix(consumer []byte) []byte {
	return prefixed(prefixed([]byte{kindOwned}, g.name), consumer)
}

// ownedKey returns the sub key under which a consumer has it.
func (g *Group) ownedKey(consumer []byte, id ID) []byte {
	return id.append(g.ownedPrefix(consumer))
}

// lastID is the ID that a sub key ends with.
func lastID(sub []byte) (ID, bool) {
	if len(sub) < idSize {
		return ID{}, false
	}
	return idOf(sub[len(sub)-idSize:]), true
}

// Find returns what is pending under an ID, or nil.
func (g *Group) Find(id ID) (*Pending, error) {
	if g.Pending == 0 || id.Compare(g.floor) < 0 || id.Compare(g.ceiling) > 0 {
		return nil, nil
	}
	value, ok, err := g.s.unit.Element(g.s.key, &g.s.v, g.pendingKey(id))
	if err != nil || !ok {
		return nil, err
	}
	p := &Pending{ID: id}
	return p, p.parse(value)
}

// Put makes p pending, in place of old, which is what Find has for its ID.
func (g *Group) Put(p, old *Pending) error {
	s := g.s
	if old == nil || string(old.Consumer) != string(p.Consumer) {
		if old != nil {
			if err := g.Remove(old); err != nil {
				return err
			}
		}
		c, err := g.Consumer(p.Consumer)
		if err != nil || c == nil {
			return errors.Join(errStream, err)
		}
		c.Pending++
		c.changed = true
		g.added(p.ID)
		s.unit.SetElement(s.key, &s.v, g.ownedKey(p.Consumer, p.ID), nil)
	} else {
		g.SetAside(old)
	}
	g.addDue(p)
	s.form = p.append(s.form[:0])
	s.unit.SetElement(s.key, &s.v, g.pendingKey(p.ID), s.form)
	return nil
}

// added notes that one more is pending.
func (g *Group) added(id ID) {
	if g.Pending == 0 {
		g.floor, g.ceiling = id, id
	}
	if id.Compare(g.floor) < 0 {
		g.floor = id
	}
	if id.Compare(g.ceiling) > 0 {
		g.ceiling = id
	}
	if g.gap.has(id) {
		g.gap = gap{}
	}
	g.Pending++
	g.changed = true
	g.grown += pendingSize
}

// Remove removes what Find has returned.
func (g *Group) Remove(p *Pending) error {
	c, err := g.Consumer(p.Consumer)
	if err != nil || c == nil {
		return errors.Join(errStream, err)
	}
	s := g.s
	s.unit.RemoveElement(s.key, &s.v, g.pendingKey(p.ID))
	s.unit.RemoveElement(s.key, &s.v, g.ownedKey(p.Consumer, p.ID))
	g.SetAside(p)
	c.Pending--
	c.changed = true
	g.Pending--
	g.changed = true
	g.grown -= pendingSize
	if looks(p.ID) {
		g.gone = p.ID
	}
	return nil
}

// look finds out how far nothing is pending around an ID that has gone. Without an answer all stays
// as it is, which is only slower.
func (g *Group) look() {
	id := g.gone
	if g.gone = (ID{}); id.IsZero() || g.Pending == 0 {
		return
	}
	before, isBefore, passed, err := g.near(g.floor, id, true)
	if err != nil {
		return
	}
	behind, isBehind, more, err := g.near(id, g.ceiling, false)
	switch {
	case err != nil || !isBefore && !isBehind:
		return
	case !isBefore && isBehind:
		g.floor = behind
		return
	case !isBehind: // the next ID that is delivered comes behind the gap
		behind, _ = g.ceiling.Next()
		g.ceiling = before
	}
	g.gap.widen(before, behind, passed+more)
}

// near returns the first ID that is pending from one to another, both included, or else the last,
// and how many of the engine's entries it has passed.
func (g *Group) near(from, to ID, back bool) (id ID, ok bool, passed int, err error) {
	if from.Compare(to) > 0 {
		return ID{}, false, 0, nil
	}
	it := g.pendings(from, to, back)
	if it.Next() {
		id, ok = lastID(it.Sub())
		passed = it.Passed()
	}
	return id, ok, passed, it.Close()
}

// pendings goes over what is pending from one ID to another, both included.
func (g *Group) pendings(from, to ID, back bool) *store.Elements {
	it := g.s.unit.Elements(g.s.key, &g.s.v, g.pendingKey(from), behind(kindPending, prefixed(nil, g.name), to), back)
	g.gap.skip(it, prefixed([]byte{kindPending}, g.name))
	return it
}

// EachPending calls yield for what is pending in the group from one ID to another, both
// included, until it returns false. It is opened, and may be changed, as for [Stream.Range].
func (g *Group) EachPending(from, to ID, yield func(p *Pending) bool) error {
	all := from.Compare(g.floor) <= 0
	from, to = g.narrow(from, to)
	if g.Pending == 0 || from.Compare(to) > 0 {
		return nil
	}
	it := g.pendings(from, to, false)
	for it.Next() {
		var p Pending
		var ok bool
		if p.ID, ok = lastID(it.Sub()); !ok {
			return errors.Join(errStream, it.Close())
		}
		if err := p.parse(it.Value()); err != nil {
			return errors.Join(err, it.Close())
		}
		if all && p.ID != g.floor {
			// Who changes the group spares others the way to here.
			g.floor, g.changed = p.ID, true
		}
		all = false
		if !yield(&p) {
			break
		}
	}
	return it.Close()
}

// narrow leaves out of a range of IDs where nothing is pending.
func (g *Group) narrow(from, to ID) (ID, ID) {
	if from.Compare(g.floor) < 0 {
		from = g.floor
	}
	if to.Compare(g.ceiling) > 0 {
		to = g.ceiling
	}
	return from, to
}

// LastPending returns the newest ID that is pending, of a group where any is.
func (g *Group) LastPending() (ID, error) {
	id, ok, _, err := g.near(g.floor, g.ceiling, true)
	if err == nil && !ok {
		err = errStream
	}
	return id, err
}

// EachOwned is EachPending for the IDs of what is pending with one consumer.
func (g *Group) EachOwned(c *Consumer, from, to ID, yield func(id ID) bool) error {
	from, to = g.narrow(from, to)
	if c.Pending == 0 || from.Compare(to) > 0 {
		return nil
	}
	s := g.s
	prefix := g.ownedPrefix(c.Name)[1:]
	it := s.unit.Elements(s.key, &s.v, g.ownedKey(c.Name, from), behind(kindOwned, prefix, to), false)
	g.gap.skip(it, g.ownedPrefix(c.Name))
	for it.Next() {
		id, ok := lastID(it.Sub())
		if !ok {
			return errors.Join(errStream, it.Close())
		}
		if !yield(id) {
			break
		}
	}
	return it.Close()
}

// EachPendingOf is EachPending for what is pending with one consumer; a name that none has
// is one with nothing. Unless the key's latch is held, it remembers the IDs of as much as
// ownedBatch at a time.
func (g *Group) EachPendingOf(name []byte, from, to ID, yield func(p *Pending) bool) error {
	c, err := g.Consumer(name)
	if err != nil || c == nil {
		return err
	}
	for {
		// What is read by one iterator must be read one after the other.
		ids := make([]ID, 0, min(c.Pending, ownedBatch))
		err := g.EachOwned(c, from, to, func(id ID) bool {
			ids = append(ids, id)
			return len(ids) < cap(ids)
		})
		if err != nil {
			return err
		}
		for _, id := range ids {
			p, err := g.Find(id)
			if err != nil || p == nil {
				return errors.Join(errStream, err)
			}
			if !yield(p) {
				return nil
			}
		}
		next := ID{}
		if len(ids) > 0 {
			next, _ = ids[len(ids)-1].Next()
		}
		if int64(len(ids)) < ownedBatch || next.IsZero() {
			return nil
		}
		from = next
	}
}

const ownedBatch = 64
