package spans

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A Set is disjoint ranges, sorted by their starts. Only the last may wrap.
type Set []ring.Range

// New returns the set of ranges that do not overlap, in any order.
func New(rs []ring.Range) Set {
	s := slices.Clone(Set(rs))
	slices.SortFunc(s, func(a, b ring.Range) int { return cmp.Compare(a.Start, b.Start) })
	return s
}

// Overlap reports whether a range of the set overlaps r.
func (s Set) Overlap(r ring.Range) bool {
	for range s.Overlapping(r) {
		return true
	}
	return false
}

// Overlapping iterates over the ranges of the set that overlap r, each once.
func (s Set) Overlapping(r ring.Range) iter.Seq[ring.Range] {
	return func(yield func(ring.Range) bool) {
		if len(s) == 0 {
			return
		}
		next := sort.Search(len(s), func(i int) bool { return s[i].Start > r.Start })
		// The last range that begins before r, or the last of all, may reach into r. The others begin in it.
		before := (next + len(s) - 1) % len(s)
		reaches := s[before].Contains(r.Start)
		if reaches && !yield(s[before]) {
			return
		}
		for n := range s {
			i := (next + n) % len(s)
			if i == before && reaches || !r.Contains(s[i].Start) || !yield(s[i]) {
				return
			}
		}
	}
}

// Overlap reports whether two ranges have a token in common.
func Overlap(a, b ring.Range) bool { return a.Contains(b.Start) || b.Contains(a.Start) }

// Within reports whether a is part of b.
func Within(a, b ring.Range) bool {
	return b.Contains(a.Start) && uint64(a.Start-b.Start)+a.Len() <= b.Len()
}

// Join joins adjacent ranges, which are sorted by their starts.
func Join(rs []ring.Range) []ring.Range {
	var out []ring.Range
	for _, r := range rs {
		if n := len(out); n > 0 && out[n-1].End == r.Start && out[n-1].Start != r.Start {
			out[n-1].End = r.End
			continue
		}
		out = append(out, r)
	}
	return out
}

// Rows iterates over the rows that overlap a range.
func Rows(st *table.State, r ring.Range) iter.Seq[*table.Row] {
	return func(yield func(*table.Row) bool) {
		passed := uint64(0) // tokens of r
		for {
			row, ok := st.Row(r.Start + ring.Token(passed))
			if !ok || !yield(row) {
				return
			}
			next := uint64(row.Range.End - r.Start)
			if next <= passed || next >= r.Len() {
				return
			}
			passed = next
		}
	}
}
