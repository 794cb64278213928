package layout

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// An Interval is the places from first to last, both included: a piece of a range
// that does not wrap.
type Interval struct{ First, Last Place }

// PiecesOf returns the pieces of a range, in its order.
func PiecesOf(r ring.Range) []Interval {
	start, end := Place(r.Start)<<32, Place(r.End)<<32
	if r.Wraps() {
		return []Interval{{start, ^Place(0)}, {0, end - 1}}
	}
	return []Interval{{start, end - 1}}
}

// UnionOf returns the intervals of ranges, in order and without overlaps.
func UnionOf(rs []ring.Range) []Interval {
	var all []Interval
	for _, r := range rs {
		all = append(all, PiecesOf(r)...)
	}
	return Union(all)
}

// Bounds returns the keys in Pebble between which a kind of placed keys lies.
func (st Interval) Bounds(kind byte) (lower, upper []byte) {
	lower = binary.BigEndian.AppendUint64([]byte{kind}, uint64(st.First))
	if st.Last == ^Place(0) {
		return lower, []byte{kind + 1}
	}
	return lower, binary.BigEndian.AppendUint64([]byte{kind}, uint64(st.Last)+1)
}

// Union returns the places of some intervals, which it reorders, as intervals in order
// with gaps between them.
func Union(sts []Interval) []Interval {
	slices.SortFunc(sts, func(a, b Interval) int { return cmp.Compare(a.First, b.First) })
	out := sts[:0]
	for _, st := range sts {
		if n := len(out); n > 0 && (out[n-1].Last == ^Place(0) || out[n-1].Last+1 >= st.First) {
			out[n-1].Last = max(out[n-1].Last, st.Last)
			continue
		}
		out = append(out, st)
	}
	return out
}

// Without returns what some intervals hold outside another.
func Without(sts []Interval, cut Interval) (left []Interval) {
	for _, st := range sts {
		if st.First > cut.Last || st.Last < cut.First {
			left = append(left, st)
			continue
		}
		if st.First < cut.First {
			left = append(left, Interval{st.First, cut.First - 1})
		}
		if st.Last > cut.Last {
			left = append(left, Interval{cut.Last + 1, st.Last})
		}
	}
	return left
}

// Intersect returns what two ranges have in common.
func Intersect(a, b ring.Range) (out []ring.Range) {
	for _, x := range PiecesOf(a) {
		for _, y := range PiecesOf(b) {
			if first, last := max(x.First, y.First), min(x.Last, y.Last); first <= last {
				out = append(out, ring.Range{Start: first.Token(), End: last.Token() + 1})
			}
		}
	}
	return out
}

// Find returns which of the intervals, which are in order, holds a token, or -1.
func Find(sts []Interval, t ring.Token) int {
	i, ok := slices.BinarySearchFunc(sts, t, func(st Interval, t ring.Token) int {
		switch {
		case st.Last.Token() < t:
			return -1
		case st.First.Token() > t:
			return 1
		}
		return 0
	})
	if !ok {
		return -1
	}
	return i
}

// ContainsFunc returns whether a place lies in intervals, which are in order and do not overlap.
func ContainsFunc(sts []Interval) func(Place) bool {
	return func(p Place) bool {
		i, _ := slices.BinarySearchFunc(sts, p, func(st Interval, p Place) int { return cmp.Compare(st.Last, p) })
		return i < len(sts) && sts[i].First <= p
	}
}

// SliceOf returns the slice of 2¹⁶ tokens in which a place lies.
func SliceOf(p Place) uint16 { return uint16(p >> 48) }

// SliceInterval returns the places of a slice.
func SliceInterval(slice uint16) Interval {
	return Interval{Place(slice) << 48, Place(slice)<<48 | (1<<48 - 1)}
}

// Complement returns the places outside some intervals, which are in order with gaps between
// them.
func Complement(sts []Interval) (rest []Interval) {
	next := Place(0)
	for _, st := range sts {
		if st.First > next {
			rest = append(rest, Interval{next, st.First - 1})
		}
		if st.Last == ^Place(0) {
			return rest
		}
		next = st.Last + 1
	}
	return append(rest, Interval{next, ^Place(0)})
}
