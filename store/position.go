package store

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/ringside-kv/ringside/ring"
)

// A Position is a place in the order of the entries of a range:
//
//	place 8 B | length of user key | user key | sub key without its generation
//
// which is an entry's key in Pebble, but for what two stores need not have in
// common. Eight bytes alone come before all keys of their place; no bytes are the
// beginning of the range, and endPosition its end. In a range that wraps, the
// order begins at the range's start.
type Position []byte

// endPosition is behind every entry. Nothing else has one byte.
var endPosition = Position{0xff}

// AtEnd reports whether the position is behind all entries of any range.
func (p Position) AtEnd() bool { return len(p) == 1 }

var errPosition = errors.New("malformed position")

// check returns an error unless the position is well-formed.
func (p Position) check() error {
	switch {
	case len(p) == 0, len(p) == placeSize:
		return nil
	case len(p) == 1 && p[0] == endPosition[0]:
		return nil
	}
	if _, _, _, err := splitPlacedKey(p); err != nil {
		return errPosition
	}
	return nil
}

// place is the position's place; for positions that have one.
func (p Position) place() Place { return Place(binary.BigEndian.Uint64(p)) }

func positionOf(p Place) Position { return binary.BigEndian.AppendUint64(nil, uint64(p)) }

// entryPosition appends the position of an entry; of a header, with no sub key.
func entryPosition(dst []byte, p Place, key, sub []byte) Position {
	return append(appendPlacedKey(dst, p, key), sub...)
}

// split returns the key and the sub key that a position names, if it names any.
func (p Position) split() (key, sub []byte) {
	if len(p) <= placeSize {
		return nil, nil
	}
	_, key, sub, err := splitPlacedKey(p)
	if err != nil {
		return nil, nil
	}
	return key, sub
}

// comparePositions compares two positions in the order of a range.
func comparePositions(r ring.Range, a, b Position) int {
	if c := positionClass(a) - positionClass(b); c != 0 || positionClass(a) != 0 {
		return c
	}
	start := uint64(r.Start) << 32
	pa, pb := uint64(a.place())-start, uint64(b.place())-start
	switch {
	case pa < pb:
		return -1
	case pa > pb:
		return 1
	}
	return bytes.Compare(a[placeSize:], b[placeSize:])
}

func positionClass(p Position) int {
	switch len(p) {
	case 0:
		return -1
	case 1:
		return 1
	}
	return 0
}

// A stretch is the places from first to last, both included: a piece of a range
// that does not wrap.
type stretch struct{ first, last Place }

// stretches returns the pieces of a range, in its order.
func stretches(r ring.Range) []stretch {
	start, end := Place(r.Start)<<32, Place(r.End)<<32
	if r.Wraps() {
		return []stretch{{start, ^Place(0)}, {0, end - 1}}
	}
	return []stretch{{start, end - 1}}
}

// stretchAt returns the piece of a range that a position lies in, from the
// position's place on, and whether another follows it; false if there is none.
func stretchAt(r ring.Range, at Position) (st stretch, ok bool) {
	pieces := stretches(r)
	switch {
	case len(at) == 0:
		return pieces[0], true
	case at.AtEnd():
		return st, false
	}
	for _, st = range pieces {
		if p := at.place(); p >= st.first && p <= st.last {
			st.first = p
			return st, true
		}
	}
	return st, false
}

// after returns the position that follows a piece of a range.
func (st stretch) after(r ring.Range) Position {
	if next := st.last + 1; next == 0 && r.Wraps() {
		return positionOf(0)
	}
	return endPosition
}

// upTo returns the last place of the stretch that lies before a position, or in its
// place, which is behind the stretch's first.
func (st stretch) upTo(p Position) Place {
	if len(p) < placeSize || p.place() < st.first {
		return st.last
	}
	return min(st.last, p.place())
}

// inside returns the places of the stretch that lie between two positions whole.
func (st stretch) inside(from, to Position) (stretch, bool) {
	if len(from) > placeSize && from.place() == st.first {
		if st.first == st.last {
			return st, false
		}
		st.first++
	}
	if len(to) >= placeSize && to.place() == st.last {
		if st.first >= st.last {
			return st, false
		}
		st.last--
	}
	return st, true
}

// bounds returns the keys in Pebble between which a kind of placed keys lies.
func (st stretch) bounds(kind byte) (lower, upper []byte) {
	lower = binary.BigEndian.AppendUint64([]byte{kind}, uint64(st.first))
	if st.last == ^Place(0) {
		return lower, []byte{kind + 1}
	}
	return lower, binary.BigEndian.AppendUint64([]byte{kind}, uint64(st.last)+1)
}

// appendLatches appends the numbers of the latches of all places of a stretch.
func (st stretch) appendLatches(dst []uint16) []uint16 {
	first, last := int(sliceOf(st.first)), int(sliceOf(st.last))
	if last-first >= 2*latchCount {
		return everyLatch()
	}
	for i := first; i <= last; i++ {
		dst = append(dst, latchOf(Place(i)<<48))
	}
	return inOrder(dst)
}
