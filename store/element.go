package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// An element is an entry of a collection that is not whole: a value under a sub key, which
// is not empty. What sub keys and values mean is the affair of the collection's type; the
// store knows only their order.

// PutWhole makes all, in the form of its type, the collection at key, with v's expiry.
// v is what Get returned and what Get would return then. The unit must hold the key's
// latch.
func (u *Unit) PutWhole(key []byte, v *Value, typ Type, all []byte) {
	old := v.header()
	h := header{typ: typ, flags: rawFlag(v.Raw), expiry: v.Expiry, value: all}
	u.putLate(key, v, &old, &h)
}

// Split makes the collection at key one of elements, with none at first and with v's
// expiry; v as with PutWhole. An error means that nothing was changed.
func (u *Unit) Split(key []byte, v *Value, typ Type) error {
	gen, err := u.s.newGeneration()
	if err != nil {
		return err
	}
	u.built = append(u.built, construction{place: v.place, key: key, gen: gen})
	old := v.header()
	h := header{typ: typ, flags: rawFlag(v.Raw), expiry: v.Expiry, gen: gen}
	u.putLate(key, v, &old, &h)
	return nil
}

// PutHead notes how many elements a collection has, how many bytes they hold, and what
// else its type wants to know; v as with PutWhole.
func (u *Unit) PutHead(key []byte, v *Value, count, size int64, head []byte) {
	old := v.header()
	h := header{
		typ: v.Type, flags: rawFlag(v.Raw), expiry: v.Expiry, gen: v.gen,
		count: uint64(count), bytes: uint64(size), value: head,
	}
	u.putLate(key, v, &old, &h)
}

// Construct makes the collection at key one of the elements that fill sets, however many,
// with a head: they are written as they come, before there is a key that has them. fill says how many
// they are and how many bytes they hold; it may read what v is still. There is no expiry
// then. v is as with PutWhole; with an error nothing was changed. It wraps ErrDuplicate if
// there are fewer elements than fill says, since it has set one twice.
func (u *Unit) Construct(key []byte, v *Value, typ Type, head []byte, fill func(set func(sub, value []byte) error) (count, size int64, err error)) error {
	return u.ConstructOrders(key, v, typ, head, 1, fill)
}

// ConstructOrders is Construct for a collection that has each element in so many orders, and
// so many entries for it.
func (u *Unit) ConstructOrders(key []byte, v *Value, typ Type, head []byte, orders int64, fill func(set func(sub, value []byte) error) (count, size int64, err error)) error {
	h := header{typ: typ, value: head}
	gen, err := u.construct(key, v.place, func(c *constructor) error {
		count, size, err := fill(c.set)
		h.count, h.bytes = uint64(count), uint64(size)
		if err == nil {
			err = c.holds(count * orders)
		}
		return err
	})
	if err != nil {
		return err
	}
	h.gen = gen
	old := v.header()
	u.putLate(key, v, &old, &h)
	return nil
}

func rawFlag(raw bool) uint8 {
	if raw {
		return headRaw
	}
	return 0
}

// putLate is put, but that the header goes into the batch when the unit is applied: many
// commands on a collection then write it once.
func (u *Unit) putLate(key []byte, v *Value, old, h *header) {
	p := v.place
	if !u.holds(p) {
		panic("store: write to a key whose latch is not held")
	}
	u.batched()
	start := len(u.lines)
	u.lines = h.append(u.lines)
	line := u.lines[start:len(u.lines):len(u.lines)]
	u.setChange(p, key, line, old.gen)
	u.find(p, key).late = true
	u.account(p, key, old, h)
	var now header
	_ = now.parse(line)
	v.set(&now, p)
}

// writeLate puts the headers into the batch that are not there yet.
func (u *Unit) writeLate() {
	for i := range u.changes {
		c := &u.changes[i]
		if !c.late {
			continue
		}
		c.late = false
		u.pbuf = appendDataPrefix(u.pbuf[:0], c.place, c.key)
		_ = u.batch.Set(u.pbuf, c.line, nil)
		u.headers++
	}
}

// SetElement sets one element; v is what Get returned, of a collection that is not whole.
// The unit must hold the key's latch, and puts a head afterwards.
func (u *Unit) SetElement(key []byte, v *Value, sub, value []byte) {
	_ = u.batched().Set(u.elementKey(key, v, sub), value, nil)
	u.elements.add(u.keep(u.pbuf), u.keep(value), false)
}

// RemoveElement is SetElement for an element that is to go.
func (u *Unit) RemoveElement(key []byte, v *Value, sub []byte) {
	_ = u.batched().Delete(u.elementKey(key, v, sub), nil)
	u.elements.add(u.keep(u.pbuf), nil, true)
}

// RemoveElements removes all elements with sub keys from one up to, not including, another;
// the rest is as with RemoveElement.
func (u *Unit) RemoveElements(key []byte, v *Value, from, to []byte) {
	lower := u.keep(u.elementKey(key, v, from))
	upper := u.keep(u.elementKey(key, v, to))
	if bytes.Compare(lower, upper) >= 0 {
		return
	}
	_ = u.batched().DeleteRange(lower, upper, nil)
	u.elements.remove(lower, upper)
}

// elementKey returns, in u.pbuf, the key of an element in Pebble.
func (u *Unit) elementKey(key []byte, v *Value, sub []byte) []byte {
	if v.gen == 0 {
		panic("store: an element of a value that has none")
	}
	u.pbuf = appendDataPrefix(u.pbuf[:0], v.place, key)
	u.pbuf = binary.BigEndian.AppendUint64(u.pbuf, v.gen)
	u.pbuf = append(u.pbuf, sub...)
	return u.pbuf
}

// keep returns a copy that lasts until the unit ends.
func (u *Unit) keep(b []byte) []byte {
	start := len(u.lines)
	u.lines = append(u.lines, b...)
	return u.lines[start:len(u.lines):len(u.lines)]
}

// Element returns the value of an element; v is what Get returned in a unit that holds
// the key's latch, or what GetWhole returned. The result is valid until the unit ends.
func (u *Unit) Element(key []byte, v *Value, sub []byte) (value []byte, ok bool, err error) {
	k := u.elementKey(key, v, sub)
	if e := u.elements.find(k); e != nil {
		return e.value, !e.gone, nil
	}
	if u.elements.removed(k) {
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
		return u.keep(value), true, nil
	}
	value, closer, err := u.s.db.Get(k)
	if err != nil {
		if errors.Is(err, pebble.ErrNotFound) {
			return nil, false, nil
		}
		return nil, false, u.s.readFailed(err)
	}
	value = u.keep(value)
	return value, true, closer.Close()
}

// hastyReads is how often a reader without latch tries to see a header and an element of
// one moment before it has writers wait.
const hastyReads = 3

// GetElement returns what Get does and, if that is a collection which is not whole, one of
// its elements as of the same moment: that whose sub key is what sub says, if anything, which
// is called with the value, perhaps more than once. The results are valid until the unit
// ends.
func (u *Unit) GetElement(key []byte, sub func(*Value) []byte) (v Value, value []byte, ok bool, err error) {
	p := u.Place(key)
	l := &u.s.latches[latchOf(p)]
	for range hastyReads {
		version := l.version.Load()
		if v, err = u.Get(key); err != nil || v.gen == 0 || v.Type == String {
			return v, nil, false, err
		}
		value, ok, err = u.elementAt(key, &v, sub)
		if u.holds(p) || u.reader(p, key) != nil {
			return v, value, ok, err
		}
		u.dependOn(l, p)
		if err != nil || l.version.Load() == version {
			return v, value, ok, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	line, found, err := u.read(l, p, key)
	var h header
	if err == nil && found {
		err = h.parse(line)
	}
	u.dependOn(l, p)
	if err != nil || h.typ == None || h.expired(u.now) {
		return Value{place: p}, nil, false, err
	}
	v.set(&h, p)
	if v.gen != 0 && v.Type != String {
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

// GetWhole is Get for whoever reads more than one element: all that Element and Elements
// find with its result is of one moment.
func (u *Unit) GetWhole(key []byte) (Value, error) {
	v, err := u.Get(key)
	if err != nil || v.gen == 0 || v.Type == String || u.holds(v.place) {
		return v, err
	}
	p := v.place
	h, err := u.openReader(p, key)
	if err != nil || h.typ == None {
		return Value{place: p}, err
	}
	v.set(&h, p)
	return v, nil
}

// An Elements goes over elements of a collection in the order of their sub keys, as they are
// when it is made: of what the unit changes meanwhile, it sees nothing. In a unit without the
// key's latch there is only one at a time. The caller closes it.
type Elements struct {
	u      *Unit
	iter   *pebble.Iterator
	own    bool // iter is nobody else's
	prefix int  // bytes before the sub key
	lower  []byte
	upper  []byte
	back   bool
	// changes are the unit's own within these bounds, without those that it has come by.
	changes []elementChange
	// removed are the ranges that the unit has removed before those changes.
	removed []elementRange
	began   bool
	stored  bool // the iterator stands at an entry within the bounds
	shown   bool // and that is the current one
	sub     []byte
	value   []byte
	err     error
}

// Elements returns those with sub keys from one up to, not including, another; an empty to
// is no bound. v is as with Element. It goes backwards if back is set.
func (u *Unit) Elements(key []byte, v *Value, from, to []byte, back bool) *Elements {
	it := &Elements{u: u, back: back, prefix: len(u.elementKey(key, v, nil))}
	it.lower = append(bytes.Clone(u.pbuf), from...)
	if len(to) > 0 {
		it.upper = append(bytes.Clone(u.pbuf), to...)
	} else {
		it.upper = prefixEnd(bytes.Clone(u.pbuf))
	}
	if bytes.Compare(it.lower, it.upper) >= 0 {
		it.began = true // Pebble takes such bounds for a fault of its own
		return it
	}
	if r := u.reader(v.place, key); r != nil {
		it.iter = r.iter
		return it
	}
	var err error
	if it.iter, err = u.s.db.NewIter(&pebble.IterOptions{LowerBound: it.lower, UpperBound: it.upper}); err != nil {
		it.err = u.s.readFailed(err)
		return it
	}
	it.own = true
	it.changes, it.removed = u.elements.within(it.lower, it.upper), u.elements.ranges
	if back {
		slices.Reverse(it.changes)
	}
	return it
}

// Next goes to the next element; false at the end, or with an error.
func (it *Elements) Next() bool {
	if it.err != nil {
		return false
	}
	switch {
	case !it.began:
		it.began, it.stored = true, it.within(it.first())
	case it.shown:
		it.stored = it.within(it.move())
	}
	return it.settle()
}

// Seek goes to the first element that is not before a sub key, which is greater than that of
// the current one, in an Elements that goes forward; false if there is none, or with an error.
func (it *Elements) Seek(sub []byte) bool {
	if it.err != nil || it.iter == nil {
		return false
	}
	key := append(it.lower[:it.prefix:it.prefix], sub...)
	if bytes.Compare(key, it.lower) < 0 {
		key = it.lower
	}
	n, _ := slices.BinarySearchFunc(it.changes, key, func(c elementChange, key []byte) int { return bytes.Compare(c.key, key) })
	it.changes = it.changes[n:]
	it.began, it.stored = true, it.within(it.iter.SeekGE(key))
	return it.settle()
}

// settle finds the current element, which is the stored one or comes behind it.
func (it *Elements) settle() bool {
	for it.shown = false; ; {
		order := 1 // the stored entry comes behind the unit's own
		switch {
		case it.iter == nil:
			return false
		case !it.stored && it.iter.Error() != nil:
			it.err = it.u.s.readFailed(it.iter.Error())
			return false
		case !it.stored && len(it.changes) == 0:
			return false
		case len(it.changes) == 0:
			order = -1
		case it.stored:
			order = bytes.Compare(it.iter.Key(), it.changes[0].key)
			if it.back {
				order = -order
			}
		}
		switch {
		case order < 0:
			it.shown, it.sub = true, it.iter.Key()[it.prefix:]
			if it.value, it.err = it.iter.ValueAndErr(); it.err != nil {
				it.err = it.u.s.readFailed(it.err)
			}
			return it.err == nil
		}
		c := &it.changes[0]
		it.changes = it.changes[1:]
		if !c.gone {
			// The stored entry of the same key is left when it has to be: Pebble may have to pass
			// over many that it has replaced.
			it.shown, it.sub, it.value = order == 0, c.key[it.prefix:], c.value
			return true
		}
		if order == 0 {
			it.stored = it.within(it.move())
		}
	}
}

func (it *Elements) first() bool {
	if it.back {
		return it.iter.SeekLT(it.upper)
	}
	return it.iter.SeekGE(it.lower)
}

func (it *Elements) move() bool {
	if it.back {
		return it.iter.Prev()
	}
	return it.iter.Next()
}

// within reports whether the iterator, if it stands anywhere, does so within the bounds:
// that of a reader has those of all elements. It passes over what the unit has removed.
func (it *Elements) within(ok bool) bool {
	for ; ok; ok = it.move() {
		k := it.iter.Key()
		if it.back && bytes.Compare(k, it.lower) < 0 || !it.back && bytes.Compare(k, it.upper) >= 0 {
			return false
		}
		if !inRanges(it.removed, k) {
			return true
		}
	}
	return false
}

// Sub returns the sub key of the current element; valid until Next.
func (it *Elements) Sub() []byte { return it.sub }

// Value returns the value of the current element; valid until Next.
func (it *Elements) Value() []byte { return it.value }

// Close ends it and returns what went wrong.
func (it *Elements) Close() error {
	if it.own {
		if err := it.iter.Close(); err != nil && it.err == nil {
			it.err = it.u.s.readFailed(err)
		}
	}
	return it.err
}
