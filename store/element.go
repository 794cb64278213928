package store

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/store/internal/cache"
	"github.com/ringside-kv/ringside/store/internal/counts"
	"github.com/ringside-kv/ringside/store/internal/latch"
	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/pending"
)

// An element is an entry of a collection that is not whole: a value under a sub key, which is not empty. What sub keys
// and values mean is the affair of the collection's type; the store knows only their order.

// PutWhole makes all, in the form of its type, the collection at key, with v's expiry. v is what Get returned and what
// Get would return then. The unit must hold the key's latch.
func (u *Unit) PutWhole(key []byte, v *Value, typ Type, all []byte) {
	u.PutWholeTimed(key, v, typ, all, 0)
}

// Split makes the collection at key one of elements, with none at first and with v's expiry; v as with PutWhole. An
// error means that nothing was changed.
func (u *Unit) Split(key []byte, v *Value, typ Type) error {
	gen, err := u.s.newGeneration()
	if err != nil {
		return err
	}
	u.long.staging = append(u.long.staging, stagedValue{place: v.place, key: key, gen: gen})
	u.s.cache.Begin(gen)
	old := v.header()
	h := layout.Header{Type: typ, Flags: v.flags(), Expiry: v.Expiry, Gen: gen}
	u.putValue(key, v, &old, &h)
	return nil
}

// PutHead notes how many elements a collection has, how many bytes they hold, and what else its type wants to know, in
// memory that is not of v; v as with PutWhole. What v had is overwritten if it is a list with chunks.
func (u *Unit) PutHead(key []byte, v *Value, count, size int64, head []byte) {
	u.PutHeadTimed(key, v, count, size, head, 0)
}

// putHeadAgain is putValue where the unit has a change of the key, c, which v is of: with another head only what the
// elements hold is new to account. Heads of lists with chunks are long, so that the new one takes the place of the old.
func (u *Unit) putHeadAgain(key []byte, c *change, v *Value, h *layout.Header) {
	chunks := h.Flags&layout.FlagChunks != 0
	if chunks {
		ensureFormat(u, h)
	}
	if chunks && cap(c.line) >= layout.MaxHead+len(h.Value) {
		c.line = h.Append(c.line[:0])
	} else {
		start := len(u.lines)
		u.lines = h.Append(u.lines)
		n := len(u.lines) - start
		if chunks {
			u.lines = append(u.lines, make([]byte, layout.MaxHead+n)...)
		}
		c.line = u.lines[start : start+n : len(u.lines)]
	}
	u.headChanges++
	if d := int64(h.Bytes) - v.Size; d != 0 {
		u.deltas = counts.AppendDelta(u.deltas, counts.Delta{
			Slice: layout.SliceOf(v.place), Database: uint16(database.Of(key)), Bytes: d,
		})
	}
	v.Count, v.Size = int64(h.Count), int64(h.Bytes)
	v.Inline = c.line[len(c.line)-len(h.Value):] // what h has may change
}

// Construct makes the collection at key one of the elements that fill sets, however many, with a head: they are written
// as they come, before there is a key that has them. fill says how many they are and how many bytes they hold; it may
// read what v is still. There is no expiry then. v is as with PutWhole; with an error nothing was changed. It wraps
// ErrDuplicate if there are fewer elements than fill says, since it has set one twice.
func (u *Unit) Construct(key []byte, v *Value, typ Type, head []byte, fill func(set func(sub, value []byte) error) (count, size int64, err error)) error {
	return u.ConstructOrders(key, v, typ, head, 1, fill)
}

// ConstructOrders is Construct for a collection that has each element in so many orders, and so many entries for it.
func (u *Unit) ConstructOrders(key []byte, v *Value, typ Type, head []byte, orders int64, fill func(set func(sub, value []byte) error) (count, size int64, err error)) error {
	return u.ConstructTimed(key, v, typ, func(set func(sub, value []byte) error) (Built, error) {
		count, size, err := fill(set)
		return Built{Count: count, Size: size, Entries: count * orders, Head: head}, err
	})
}

// putValue is put for what v says of the key, and v says it of what is there now.
func (u *Unit) putValue(key []byte, v *Value, old, h *layout.Header) {
	p := v.place
	line := u.put(p, key, old, h)
	now := *h
	now.Value = line[len(line)-len(h.Value):] // what h has may change
	v.set(&now, p)
}

// SetElement sets one element; v is what Get returned, of a collection that is not whole. The unit must hold the key's
// latch. The number and size of the elements, if they change, are noted by a head afterwards.
func (u *Unit) SetElement(key []byte, v *Value, sub, value []byte) {
	u.ensureBatch()
	u.touch(key)
	k := u.copyBytes(u.elementKey(key, v, sub))
	u.elements.Add(pending.Change{Place: v.place, Key: k, Sub: len(sub), Value: u.copyBytes(value)})
}

// RemoveElement is SetElement for an element that is to go.
func (u *Unit) RemoveElement(key []byte, v *Value, sub []byte) {
	u.ensureBatch()
	u.touch(key)
	u.elements.Add(pending.Change{Place: v.place, Key: u.copyBytes(u.elementKey(key, v, sub)), Sub: len(sub), Gone: true})
}

// LeaveElement is RemoveElement for an item that stays where it is until RemoveElements is told to remove it, with
// others: it is not asked for before it is set again.
func (u *Unit) LeaveElement(key []byte, v *Value, sub []byte) {
	u.elements.Add(pending.Change{Place: v.place, Key: u.copyBytes(u.elementKey(key, v, sub)), Sub: len(sub), Gone: true, Left: true})
}

// RemoveElements removes all elements with sub keys from one up to, not including, another; the rest is as with
// RemoveElement. There may be no fields among them, and an item that was removed so must not be asked for by Element
// before it is set again, nor a chunk before it or its items are: their lines in the cache stay.
func (u *Unit) RemoveElements(key []byte, v *Value, from, to []byte) {
	if f := from[0]; f <= FieldKind && bytes.Compare(to, []byte{FieldKind}) > 0 || f <= TimedKind && bytes.Compare(to, []byte{TimedKind}) > 0 {
		panic("store: fields are removed one by one")
	}
	lower := u.copyBytes(u.elementKey(key, v, from))
	upper := u.copyBytes(u.elementKey(key, v, to))
	if bytes.Compare(lower, upper) >= 0 {
		return
	}
	_ = u.ensureBatch().DeleteRange(lower, upper, nil)
	u.touch(key)
	u.rangeTombstones++
	u.elements.Remove(lower, upper)
}

// writeElements puts the changes of elements into the batch, where ranges that were removed are already. A memtable
// takes in what follows the key before at once, and searches for all else: so those that came from the last to the
// first, as LPUSH has them, are turned round, and what is in two orders is written in one after the other, since
// members that are popped follow each other in one of them.
func (u *Unit) writeElements() {
	list := u.elements.List
	if pending.Descending(list) {
		for i := len(list) - 1; i >= 0; i-- {
			u.writeElement(&list[i])
		}
		return
	}
	for _, fields := range [...]bool{true, false} {
		for i := range list {
			if c := &list[i]; c.IsField() == fields {
				u.writeElement(c)
			}
		}
	}
}

func (u *Unit) writeElement(c *pending.Change) {
	switch {
	case c.Left:
	case c.Gone:
		_ = u.batch.Delete(c.Key, nil)
	default:
		_ = u.batch.Set(c.Key, c.Value, nil)
	}
}

// elementKey returns, in u.pbuf, the key of an element in Pebble.
func (u *Unit) elementKey(key []byte, v *Value, sub []byte) []byte {
	if v.gen == 0 {
		panic("store: an element of a value that has none")
	}
	u.pbuf = layout.AppendDataPrefix(u.pbuf[:0], v.place, key)
	u.pbuf = binary.BigEndian.AppendUint64(u.pbuf, v.gen)
	u.pbuf = append(u.pbuf, sub...)
	return u.pbuf
}

// copyBytes returns a copy that lasts until the unit ends; b itself for ElementSize.
func (u *Unit) copyBytes(b []byte) []byte {
	if u.sizing {
		return b
	}
	start := len(u.lines)
	u.lines = append(u.lines, b...)
	return u.lines[start:len(u.lines):len(u.lines)]
}

// Element returns the value of an element; v is what Get returned in a unit that holds the key's latch, or what
// GetWhole returned. The result is valid until the unit ends.
func (u *Unit) Element(key []byte, v *Value, sub []byte) (value []byte, ok bool, err error) {
	k := u.elementKey(key, v, sub)
	if e := u.elements.Find(k); e != nil {
		return e.Value, !e.Gone, nil
	}
	if u.elements.Removed(k) || u.setsItemsOf(k, sub) {
		return nil, false, nil
	}
	if r := u.reader(v.place, key); r != nil {
		if !r.iter.SeekGE(k) || !bytes.Equal(r.iter.Key(), k) {
			if err := r.iter.Error(); err != nil {
				return nil, false, u.s.readFailed(err)
			}
			return nil, false, nil
		}
		if value, err = r.iter.ValueAndErr(); err != nil {
			return nil, false, u.s.readFailed(err)
		}
		return u.copyBytes(value), true, nil
	}
	cached, line := cache.HasLine(sub), k[len(k)-len(sub)-8:]
	if cached {
		var near *cache.NearRow
		if cache.IsItem(line) && u.holds(v.place) {
			near = &u.row
			if value, ok = near.Get(line); ok {
				return value, true, nil
			}
		}
		var answer cache.Answer
		u.lines, value, answer = u.s.cache.Element(v.place, line, u.lines, near)
		switch answer {
		case cache.Hit:
			return value, true, nil
		case cache.Absent:
			return nil, false, nil
		}
	}
	l := &u.s.latches[latch.Of(v.place)]
	version := l.Version()
	value, closer, err := getEntry(u, k)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return nil, false, nil
		}
		return nil, false, u.s.readFailed(err)
	}
	if cached && !u.noTouch {
		u.s.cache.FillElement(v.place, line, value, l, version)
	}
	return u.copyBytes(value), true, closer.Close()
}

// setsItemsOf reports whether an element, whose key in Pebble is k, is a chunk of a list whose items the unit has set one
// by one. The cache may have a line of an earlier chunk with the same numbers, which RemoveElements has removed: that
// line goes once an item of these numbers is committed.
//
// Invariant: a chunk is asked for only where the list has all of its numbers. So if none of its items is committed, all
// are the unit's changes, also the first one, whose key is that of the chunk without its last byte.
func (u *Unit) setsItemsOf(k, sub []byte) bool {
	if len(u.elements.List) == 0 || !layout.IsChunk(sub) {
		return false
	}
	item := u.elements.Find(k[:len(k)-1])
	return item != nil && !item.Gone
}

// ElementSize returns the length of what Element returns, and keeps no copy of what is not in the cache.
func (u *Unit) ElementSize(key []byte, v *Value, sub []byte) (size int, ok bool, err error) {
	u.sizing = true
	value, ok, err := u.Element(key, v, sub)
	u.sizing = false
	return len(value), ok, err
}

// ElementChanges is a number that rises with each change of an element which the unit makes, and when it runs again: as
// long as it stays the same, and a latch is held, so do the elements of that latch's keys.
func (u *Unit) ElementChanges() uint64 { return u.elements.Version }

// IsSameCollection reports whether both are the same collection, which is not whole, of one key.
func (v *Value) IsSameCollection(other *Value) bool {
	return v.gen != 0 && v.gen == other.gen && v.place == other.place
}

// optimisticReads is how often a reader without latch tries to see a header and an element of one moment before it has
// writers wait.
const optimisticReads = 3

// GetElement returns what Get does and, if that is a collection which is not whole, one of its elements as of the same
// moment: that whose sub key is what sub says, if anything, which is called with the value, perhaps more than once. The
// results are valid until the unit ends.
func (u *Unit) GetElement(key []byte, sub func(*Value) []byte) (v Value, value []byte, ok bool, err error) {
	p := u.Place(key)
	l := &u.s.latches[latch.Of(p)]
	for range optimisticReads {
		version := l.Version()
		if v, err = u.Get(key); err != nil || v.gen == 0 || v.Type.IsBytes() {
			return v, nil, false, err
		}
		value, ok, err = u.elementAt(key, &v, sub)
		if u.holds(p) || u.reader(p, key) != nil {
			return v, value, ok, err
		}
		u.noteRead(l, p)
		if err != nil || l.Version() == version {
			return v, value, ok, err
		}
	}
	l.Lock()
	defer l.Unlock()
	line, _, found, err := u.read(l, p, key)
	var h layout.Header
	if err == nil && found {
		err = h.Parse(line)
	}
	u.noteRead(l, p)
	if err != nil || h.Type == None || h.Expired(u.now) {
		return Value{place: p}, nil, false, err
	}
	v.set(&h, p)
	if v.gen != 0 && !v.Type.IsBytes() {
		value, ok, err = u.elementAt(key, &v, sub)
	}
	return v, value, ok, err
}

func (u *Unit) elementAt(key []byte, v *Value, sub func(*Value) []byte) (value []byte, ok bool, err error) {
	k := sub(v)
	if len(k) == 0 {
		return nil, false, nil
	}
	return u.Element(key, v, k)
}

// GetWhole is Get for reads of more than one element: all that Element and Elements find with its result is of one
// moment.
func (u *Unit) GetWhole(key []byte) (Value, error) {
	v, err := u.Get(key)
	if err != nil || v.gen == 0 || v.Type.IsBytes() || u.holds(v.place) {
		return v, err
	}
	p := v.place
	h, err := u.openReader(p, key)
	if err != nil || h.Type == None {
		return Value{place: p}, err
	}
	v.set(&h, p)
	return v, nil
}

// Recall returns what was remembered last of the collection that v is, or nil. It may be of an earlier state, or of one
// that never came about.
func (u *Unit) Recall(v *Value) any { return u.s.recall.Get(v.gen) }

// Remember keeps something, of about so many bytes, that does not change any more, for Recall with the same collection;
// it may be forgotten at any time.
func (u *Unit) Remember(v *Value, what any, bytes int) { u.s.recall.Put(v.gen, what, bytes) }
