package layout

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

// EndPosition is behind every entry. Nothing else has one byte.
var EndPosition = Position{0xff}

// AtEnd reports whether the position is behind all entries of any range.
func (p Position) AtEnd() bool { return len(p) == 1 }

// ErrPosition says that a position is malformed, or of another range.
var ErrPosition = errors.New("malformed position")

// Check returns an error unless the position is well-formed.
func (p Position) Check() error {
	switch {
	case len(p) == 0, len(p) == PlaceSize:
		return nil
	case len(p) == 1 && p[0] == EndPosition[0]:
		return nil
	}
	if _, _, _, err := SplitPlacedKey(p); err != nil {
		return ErrPosition
	}
	return nil
}

// Place is the position's place; for positions that have one.
func (p Position) Place() Place { return Place(binary.BigEndian.Uint64(p)) }

// PositionOf returns the position before all keys of a place.
func PositionOf(p Place) Position { return binary.BigEndian.AppendUint64(nil, uint64(p)) }

// EntryPosition appends the position of an entry; of a header, with no sub key.
func EntryPosition(dst []byte, p Place, key, sub []byte) Position {
	return append(AppendPlacedKey(dst, p, key), sub...)
}

// Split returns the key and the sub key that a position names, if it names any.
func (p Position) Split() (key, sub []byte) {
	if len(p) <= PlaceSize {
		return nil, nil
	}
	_, key, sub, err := SplitPlacedKey(p)
	if err != nil {
		return nil, nil
	}
	return key, sub
}

// ComparePositions compares two positions in the order of a range.
func ComparePositions(r ring.Range, a, b Position) int {
	if c := positionClass(a) - positionClass(b); c != 0 || positionClass(a) != 0 {
		return c
	}
	start := uint64(r.Start) << 32
	pa, pb := uint64(a.Place())-start, uint64(b.Place())-start
	switch {
	case pa < pb:
		return -1
	case pa > pb:
		return 1
	}
	return bytes.Compare(a[PlaceSize:], b[PlaceSize:])
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

// PieceAt returns the piece of a range that a position lies in, from the
// position's place on, and whether another follows it; false if there is none.
func PieceAt(r ring.Range, at Position) (st Interval, ok bool) {
	pieces := PiecesOf(r)
	switch {
	case len(at) == 0:
		return pieces[0], true
	case at.AtEnd():
		return st, false
	}
	for _, st = range pieces {
		if p := at.Place(); p >= st.First && p <= st.Last {
			st.First = p
			return st, true
		}
	}
	return st, false
}

// After returns the position that follows a piece of a range.
func (st Interval) After(r ring.Range) Position {
	if next := st.Last + 1; next == 0 && r.Wraps() {
		return PositionOf(0)
	}
	return EndPosition
}

// UpTo returns the last place of the interval that lies before a position, or in its
// place, which is behind the interval's first.
func (st Interval) UpTo(p Position) Place {
	if len(p) < PlaceSize || p.Place() < st.First {
		return st.Last
	}
	return min(st.Last, p.Place())
}

// Inside returns the places of the interval that lie between two positions whole.
func (st Interval) Inside(from, to Position) (Interval, bool) {
	if len(from) > PlaceSize && from.Place() == st.First {
		if st.First == st.Last {
			return st, false
		}
		st.First++
	}
	if len(to) >= PlaceSize && to.Place() == st.Last {
		if st.First >= st.Last {
			return st, false
		}
		st.Last--
	}
	return st, true
}
