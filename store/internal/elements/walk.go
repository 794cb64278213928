package elements

import (
	"bytes"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/pending"
)

// A Walk goes over elements of a collection in the order of their sub keys, as they are when it is
// made: of what the unit changes meanwhile, it sees nothing. The caller closes it.
type Walk struct {
	Bounds
	src  Source
	iter *pebble.Iterator
	own  bool // iter belongs to this walk alone
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

// uncountedTombstones is how many entries an iterator passes without being counted.
const uncountedTombstones = 256

// Bounds are between which keys in Pebble a walk goes, and whether backwards.
type Bounds struct {
	Lower, Upper []byte
	Prefix       int // bytes before the sub key
	Back         bool
}

// A Source is the store whose elements a walk goes over.
type Source interface {
	// ReadFailed returns the error that a failed read becomes.
	ReadFailed(err error) error
	// PassedTombstones counts tombstones and old values that were passed.
	PassedTombstones(n int)
}

// None returns a walk over nothing, and ends with an error if there is one.
func None(src Source, b Bounds, err error) *Walk {
	return &Walk{Bounds: b, src: src, began: true, err: err} // Pebble takes empty bounds for a fault of its own
}

// Of returns a walk with an iterator that others use, too, and that sees all there is.
func Of(src Source, b Bounds, iter *pebble.Iterator) *Walk {
	it := &Walk{Bounds: b, src: src, iter: iter}
	it.start = it.Passed()
	return it
}

// New returns a walk with an iterator of its own, with these bounds, and a unit's changes.
func New(src Source, b Bounds, iter *pebble.Iterator, changes []pending.Change, removed []pending.Range) *Walk {
	if b.Back {
		slices.Reverse(changes)
	}
	return &Walk{Bounds: b, src: src, iter: iter, own: true, changes: changes, removed: removed}
}

// Next goes to the next element; false at the end, or with an error.
func (it *Walk) Next() bool {
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
// the current one, in a walk that goes forward; false if there is none, or with an error.
func (it *Walk) Seek(sub []byte) bool {
	if it.err != nil || it.iter == nil {
		return false
	}
	key := append(it.Lower[:it.Prefix:it.Prefix], sub...)
	if bytes.Compare(key, it.Lower) < 0 {
		key = it.Lower
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
func (it *Walk) findCurrent() bool {
	for it.atStored = false; ; {
		order := 1 // the stored entry comes behind the unit's own
		switch {
		case it.iter == nil:
			return false
		case !it.stored && it.iter.Error() != nil:
			it.err = it.src.ReadFailed(it.iter.Error())
			return false
		case !it.stored && len(it.changes) == 0:
			return false
		case len(it.changes) == 0:
			order = -1
		case it.stored:
			order = bytes.Compare(it.iter.Key(), it.changes[0].Key)
			if it.Back {
				order = -order
			}
		}
		switch {
		case order < 0:
			it.found++
			it.atStored, it.sub = true, it.iter.Key()[it.Prefix:]
			if it.value, it.err = it.iter.ValueAndErr(); it.err != nil {
				it.err = it.src.ReadFailed(it.err)
			}
			return it.err == nil
		}
		c := &it.changes[0]
		it.changes = it.changes[1:]
		if !c.Gone {
			// The stored entry of the same key is left when it has to be: Pebble may have to pass
			// over many that it has replaced.
			it.atStored, it.sub, it.value = order == 0, c.Key[it.Prefix:], c.Value
			return true
		}
		if order == 0 {
			it.stored = it.within(it.move())
		}
	}
}

// Skip tells that no element lies from one sub key up to, not including, another, so that the
// tombstones there are not passed. It is called before Next.
func (it *Walk) Skip(from, to []byte) {
	lower := append(it.Lower[:it.Prefix:it.Prefix], from...)
	upper := append(it.Lower[:it.Prefix:it.Prefix], to...)
	if bytes.Compare(lower, it.Lower) <= 0 && bytes.Compare(upper, it.Lower) > 0 {
		it.Lower = upper
	}
	if bytes.Compare(upper, it.Upper) >= 0 && bytes.Compare(lower, it.Upper) < 0 {
		it.Upper = lower
	}
	if bytes.Compare(it.Lower, lower) < 0 && bytes.Compare(lower, upper) < 0 && bytes.Compare(upper, it.Upper) < 0 {
		it.gap = pending.Range{Lower: lower, Upper: upper}
	}
}

// limit is where the iterator pauses: before the hole, or at the bound that Pebble does not know.
func (it *Walk) limit() []byte {
	switch {
	case it.Back && it.gap.Upper != nil:
		return it.gap.Upper
	case it.gap.Lower != nil:
		return it.gap.Lower
	case it.own:
		return nil
	case it.Back:
		return it.Lower
	}
	return it.Upper
}

// skipHole reports whether the iterator, which has moved up to limit, stands at an entry. It goes on
// behind the hole.
func (it *Walk) skipHole(state pebble.IterValidityState) bool {
	hole := it.gap
	switch {
	case hole.Lower == nil:
		return state == pebble.IterValid
	case state == pebble.IterValid:
		// Pebble may pass the limit.
		if k := it.iter.Key(); it.Back == (bytes.Compare(k, hole.Lower) < 0) {
			it.gap = pending.Range{}
		}
		return true
	}
	it.gap = pending.Range{}
	if state == pebble.IterExhausted {
		return false
	}
	if it.Back {
		return it.iter.SeekLTWithLimit(hole.Lower, it.limit()) == pebble.IterValid
	}
	return it.iter.SeekGEWithLimit(hole.Upper, it.limit()) == pebble.IterValid
}

func (it *Walk) first() bool {
	if it.Back {
		return it.skipHole(it.iter.SeekLTWithLimit(it.Upper, it.limit()))
	}
	return it.skipHole(it.iter.SeekGEWithLimit(it.Lower, it.limit()))
}

func (it *Walk) move() bool {
	if it.Back {
		return it.skipHole(it.iter.PrevWithLimit(it.limit()))
	}
	return it.skipHole(it.iter.NextWithLimit(it.limit()))
}

// within reports whether the iterator, if it stands anywhere, does so within the bounds:
// that of a reader has those of all elements. It passes over what the unit has removed.
func (it *Walk) within(ok bool) bool {
	for ; ok; ok = it.move() {
		k := it.iter.Key()
		if it.Back && bytes.Compare(k, it.Lower) < 0 || !it.Back && bytes.Compare(k, it.Upper) >= 0 {
			return false
		}
		if !pending.InRanges(it.removed, k) {
			return true
		}
	}
	return false
}

// Sub returns the sub key of the current element; valid until Next.
func (it *Walk) Sub() []byte { return it.sub }

// Value returns the value of the current element; valid until Next.
func (it *Walk) Value() []byte { return it.value }

// Passed returns how many of the engine's entries were passed on the way to the current element,
// tombstones and old values included.
func (it *Walk) Passed() int {
	if it.iter == nil {
		return 0
	}
	stats := it.iter.Stats()
	return stats.ForwardStepCount[pebble.InternalIterCall] + stats.ReverseStepCount[pebble.InternalIterCall] - it.start
}

// Close ends it and returns what went wrong.
func (it *Walk) Close() error {
	if dead := it.Passed() - it.found; dead > uncountedTombstones {
		it.src.PassedTombstones(dead)
	}
	if it.own {
		if err := it.iter.Close(); err != nil && it.err == nil {
			it.err = it.src.ReadFailed(err)
		}
	}
	return it.err
}
