package store

import (
	"bytes"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/pending"
)

// An Elements goes over elements of a collection in the order of their sub keys, as they are
// when it is made: of what the unit changes meanwhile, it sees nothing. In a unit without the
// key's latch there is only one at a time. The caller closes it.
type Elements struct {
	u      *Unit
	iter   *pebble.Iterator
	own    bool // iter belongs to this walk alone
	prefix int  // bytes before the sub key
	lower  []byte
	upper  []byte
	back   bool
	// changes are the unit's own within these bounds, without those that it has come by.
	changes []pending.Change
	// removed are the ranges that the unit has removed before those changes.
	removed []pending.Range
	// gap holds no element, and lies ahead; it is empty if there is none.
	gap pending.Range
	// start is how many of the engine's entries the iterator had passed before, and found how many
	// were found since.
	start, found int
	began        bool
	stored       bool // the iterator stands at an entry within the bounds
	atStored     bool // and that is the current one
	sub          []byte
	value        []byte
	err          error
}

// Elements returns those with sub keys from one up to, not including, another; an empty to
// is no bound. v is as with Element. It goes backwards if back is set.
func (u *Unit) Elements(key []byte, v *Value, from, to []byte, back bool) *Elements {
	it := &Elements{u: u, back: back, prefix: len(u.elementKey(key, v, nil))}
	it.lower = append(bytes.Clone(u.pbuf), from...)
	if len(to) > 0 {
		it.upper = append(bytes.Clone(u.pbuf), to...)
	} else {
		it.upper = layout.PrefixEnd(bytes.Clone(u.pbuf))
	}
	if bytes.Compare(it.lower, it.upper) >= 0 {
		it.began = true // Pebble takes such bounds for a fault of its own
		return it
	}
	if r := u.reader(v.place, key); r != nil {
		it.iter = r.iter
		it.start = it.Passed()
		return it
	}
	var err error
	if it.iter, err = u.s.db.NewIter(&pebble.IterOptions{LowerBound: it.lower, UpperBound: it.upper}); err != nil {
		it.err = u.s.readFailed(err)
		return it
	}
	it.own = true
	it.changes, it.removed = u.elements.Within(it.lower, it.upper), u.elements.Ranges
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
	case it.atStored:
		it.stored = it.within(it.move())
	}
	return it.findCurrent()
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
	n, _ := slices.BinarySearchFunc(it.changes, key, func(c pending.Change, key []byte) int { return bytes.Compare(c.Key, key) })
	it.changes = it.changes[n:]
	if bytes.Compare(key, it.gap.Lower) >= 0 {
		it.gap = pending.Range{}
	}
	it.began, it.stored = true, it.within(it.skipHole(it.iter.SeekGEWithLimit(key, it.limit())))
	return it.findCurrent()
}

// findCurrent finds the current element, which is the stored one or comes behind it.
func (it *Elements) findCurrent() bool {
	for it.atStored = false; ; {
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
			order = bytes.Compare(it.iter.Key(), it.changes[0].Key)
			if it.back {
				order = -order
			}
		}
		switch {
		case order < 0:
			it.found++
			it.atStored, it.sub = true, it.iter.Key()[it.prefix:]
			if it.value, it.err = it.iter.ValueAndErr(); it.err != nil {
				it.err = it.u.s.readFailed(it.err)
			}
			return it.err == nil
		}
		c := &it.changes[0]
		it.changes = it.changes[1:]
		if !c.Gone {
			// The stored entry of the same key is left when it has to be: Pebble may have to pass
			// over many that it has replaced.
			it.atStored, it.sub, it.value = order == 0, c.Key[it.prefix:], c.Value
			return true
		}
		if order == 0 {
			it.stored = it.within(it.move())
		}
	}
}

// Skip tells that no element lies from one sub key up to, not including, another, so that the
// tombstones there are not passed. It is called before Next.
func (it *Elements) Skip(from, to []byte) {
	lower := append(it.lower[:it.prefix:it.prefix], from...)
	upper := append(it.lower[:it.prefix:it.prefix], to...)
	if bytes.Compare(lower, it.lower) <= 0 && bytes.Compare(upper, it.lower) > 0 {
		it.lower = upper
	}
	if bytes.Compare(upper, it.upper) >= 0 && bytes.Compare(lower, it.upper) < 0 {
		it.upper = lower
	}
	if bytes.Compare(it.lower, lower) < 0 && bytes.Compare(lower, upper) < 0 && bytes.Compare(upper, it.upper) < 0 {
		it.gap = pending.Range{Lower: lower, Upper: upper}
	}
}

// limit is where the iterator pauses: before the hole, or at the bound that Pebble does not know.
func (it *Elements) limit() []byte {
	switch {
	case it.back && it.gap.Upper != nil:
		return it.gap.Upper
	case it.gap.Lower != nil:
		return it.gap.Lower
	case it.own:
		return nil
	case it.back:
		return it.lower
	}
	return it.upper
}

// skipHole reports whether the iterator, which has moved up to limit, stands at an entry. It goes on
// behind the hole.
func (it *Elements) skipHole(state pebble.IterValidityState) bool {
	hole := it.gap
	switch {
	case hole.Lower == nil:
		return state == pebble.IterValid
	case state == pebble.IterValid:
		// Pebble may pass the limit.
		if k := it.iter.Key(); it.back == (bytes.Compare(k, hole.Lower) < 0) {
			it.gap = pending.Range{}
		}
		return true
	}
	it.gap = pending.Range{}
	if state == pebble.IterExhausted {
		return false
	}
	if it.back {
		return it.iter.SeekLTWithLimit(hole.Lower, it.limit()) == pebble.IterValid
	}
	return it.iter.SeekGEWithLimit(hole.Upper, it.limit()) == pebble.IterValid
}

func (it *Elements) first() bool {
	if it.back {
		return it.skipHole(it.iter.SeekLTWithLimit(it.upper, it.limit()))
	}
	return it.skipHole(it.iter.SeekGEWithLimit(it.lower, it.limit()))
}

func (it *Elements) move() bool {
	if it.back {
		return it.skipHole(it.iter.PrevWithLimit(it.limit()))
	}
	return it.skipHole(it.iter.NextWithLimit(it.limit()))
}

// within reports whether the iterator, if it stands anywhere, does so within the bounds:
// that of a reader has those of all elements. It passes over what the unit has removed.
func (it *Elements) within(ok bool) bool {
	for ; ok; ok = it.move() {
		k := it.iter.Key()
		if it.back && bytes.Compare(k, it.lower) < 0 || !it.back && bytes.Compare(k, it.upper) >= 0 {
			return false
		}
		if !pending.InRanges(it.removed, k) {
			return true
		}
	}
	return false
}

// Sub returns the sub key of the current element; valid until Next.
func (it *Elements) Sub() []byte { return it.sub }

// Value returns the value of the current element; valid until Next.
func (it *Elements) Value() []byte { return it.value }

// Passed returns how many of the engine's entries were passed on the way to the current element,
// tombstones and old values included.
func (it *Elements) Passed() int {
	if it.iter == nil {
		return 0
	}
	stats := it.iter.Stats()
	return stats.ForwardStepCount[pebble.InternalIterCall] + stats.ReverseStepCount[pebble.InternalIterCall] - it.start
}

// Close ends it and returns what went wrong.
func (it *Elements) Close() error {
	if dead := it.Passed() - it.found; dead > uncountedTombstones {
		it.u.s.housekeeper.passedTombstones.Add(int64(dead))
	}
	if it.own {
		if err := it.iter.Close(); err != nil && it.err == nil {
			it.err = it.u.s.readFailed(err)
		}
	}
	return it.err
}
