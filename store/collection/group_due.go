package collection

import (
	"encoding/binary"
	"errors"
	"math"
)

// A group that a reader with CLAIM has asked keeps its pending entries in the order of delivery, too,
// under
//
//	'd' | group, its length first | time of delivery 8 B BE, sign bit flipped | ID
//
// so that a reader finds those that have waited longest without looking at all. The order is an index of
// the pending entries and no more: an older version of the program that changes the group drops it, and
// the next reader builds it again. One that changes only the time of an entry leaves the entry where it was;
// EachDue notices and corrects it.
const kindDue = 'd'

// A dueOrder is what a group knows of that order.
type dueOrder struct {
	kept bool
	// upTo: all pending entries up to this ID are in the order.
	upTo ID
	// floor: nothing in the order was delivered before.
	floor int64
}

// dueBatch is how many entries one call of KeepDue adds to the order.
const dueBatch = 1 << 16

// append appends what a group knows of the order behind its gap, which older versions want whole.
func (d *dueOrder) append(dst []byte, g *gap) []byte {
	if g.passed == 0 {
		dst = append(dst, make([]byte, 2*idSize+1)...)
	}
	return binary.AppendVarint(d.upTo.append(dst), d.floor)
}

// parse reads what append has written behind the gap, which may be nothing.
func (d *dueOrder) parse(b []byte) error {
	if *d = (dueOrder{}); len(b) == 0 {
		return nil
	}
	if len(b) < idSize {
		return errStream
	}
	r := numbers{b: b[idSize:]}
	*d = dueOrder{kept: true, upTo: idOf(b), floor: r.varint()}
	return r.err
}

func (g *Group) duePrefix() []byte { return prefixed([]byte{kindDue}, g.name) }

// dueKey returns the sub key of an entry in the order of delivery.
func (g *Group) dueKey(at int64, id ID) []byte {
	return id.append(binary.BigEndian.AppendUint64(g.duePrefix(), uint64(at)^1<<63))
}

// splitDue undoes dueKey.
func splitDue(sub []byte) (at int64, id ID, ok bool) {
	if len(sub) < 8+idSize {
		return 0, ID{}, false
	}
	b := sub[len(sub)-8-idSize:]
	return int64(binary.BigEndian.Uint64(b) ^ 1<<63), idOf(b[8:]), true
}

// addDue adds a pending entry to the order, if the group keeps one.
func (g *Group) addDue(p *Pending) {
	if !g.due.kept {
		return
	}
	g.s.unit.SetElement(g.s.key, &g.s.v, g.dueKey(p.Time, p.ID), nil)
	if p.Time < g.due.floor {
		g.due.floor, g.changed = p.Time, true
	}
}

// SetAside takes a pending entry out of the order of delivery: EachDue does not come by it until it is
// delivered again.
func (g *Group) SetAside(p *Pending) {
	if g.due.kept {
		g.s.unit.RemoveElement(g.s.key, &g.s.v, g.dueKey(p.Time, p.ID))
	}
}

// HasAllDue reports whether all that is pending is in the order of delivery, or has been set aside.
func (g *Group) HasAllDue() bool { return g.due.kept && g.due.upTo == MaxID }

// KeepDue has the group keep the order of delivery from now on. Entries that were pending before are added
// dueBatch at a time: done is false while a further call is needed. The caller ends with Save.
func (g *Group) KeepDue() (done bool, err error) {
	d := &g.due
	if g.HasAllDue() {
		return true, nil
	}
	if !d.kept {
		g.s.removePrefix(g.duePrefix())
		*d = dueOrder{kept: true, floor: math.MaxInt64}
	}
	g.changed = true
	n, last := 0, d.upTo
	err = g.EachPending(d.upTo, MaxID, func(p *Pending) bool {
		g.addDue(p)
		n, last = n+1, p.ID
		return n < dueBatch
	})
	if d.upTo = last; n < dueBatch {
		d.upTo = MaxID
	}
	return g.HasAllDue(), err
}

// EachDue calls yield for what is pending in the group and was delivered at a time or before it, the
// oldest first, until it returns false. yield may change the group, which EachDue does not see. The
// group keeps the order, and the stream was opened with its latch held; the caller ends with Save.
func (g *Group) EachDue(until int64, yield func(p *Pending) bool) error {
	low := until // what stays in the order, and is added to it, has this time or a later one
	found := false
	correct := func(at int64, id ID, p *Pending) {
		g.SetAside(&Pending{ID: id, Time: at})
		if p != nil {
			g.addDue(p)
			low = min(low, p.Time)
		}
	}
	raise := func(passed int) {
		if low > g.due.floor && passed > dueTombstones {
			g.due.floor, g.changed = low, true
		}
	}
	passed, err := g.walkDue(until, correct, func(p *Pending, passed int) bool {
		if !found {
			found, low = true, min(low, p.Time)
			raise(passed)
		}
		return yield(p)
	})
	if !found && err == nil {
		raise(passed)
	}
	return err
}

// dueTombstones is how many entries of the engine EachDue passes before it notes where the order begins.
const dueTombstones = 32

// PeekDue calls yield for what is in the order of delivery, from the oldest on, until it returns false. It
// changes nothing. It is opened as for EachDue.
func (g *Group) PeekDue(yield func(at int64, id ID) bool) error {
	_, err := g.walkDue(math.MaxInt64, nil, func(p *Pending, _ int) bool { return yield(p.Time, p.ID) })
	return err
}

// walkDue calls yield for the order of delivery up to a time, with how many entries of the engine were
// passed so far, and wrong, unless it is nil, for what does not agree with the entry that is pending with
// that ID, nil if none is. It returns how many were passed in all.
func (g *Group) walkDue(until int64, wrong func(at int64, id ID, p *Pending), yield func(p *Pending, passed int) bool) (passed int, err error) {
	if !g.due.kept || until < g.due.floor {
		return 0, nil
	}
	end := prefixEnd(g.duePrefix())
	if until < math.MaxInt64 {
		end = g.dueKey(until+1, ID{})
	}
	it := g.s.unit.Elements(g.s.key, &g.s.v, g.dueKey(g.due.floor, ID{}), end, false)
	for it.Next() {
		at, id, ok := splitDue(it.Sub())
		if !ok {
			return 0, errors.Join(errStream, it.Close())
		}
		p, err := g.Find(id)
		switch {
		case err != nil:
			return 0, errors.Join(err, it.Close())
		case p != nil && p.Time == at:
			if !yield(p, it.Passed()) {
				return it.Passed(), it.Close()
			}
		case wrong != nil:
			wrong(at, id, p)
		}
	}
	return it.Passed(), it.Close()
}
