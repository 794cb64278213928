package replica

import (
	"cmp"
	"slices"
	"sort"

	"github.com/ringside-kv/ringside/ring"
)

// spans are ranges that have no token in common, in the order of their starts. Only the
// last may wrap.
type spans []ring.Range

func newSpans(rs []ring.Range) spans {
	s := slices.Clone(spans(rs))
	slices.SortFunc(s, func(a, b ring.Range) int { return cmp.Compare(a.Start, b.Start) })
	return s
}

// overlap tells whether any of them has a part in a range.
func (s spans) overlap(r ring.Range) bool {
	if len(s) == 0 {
		return false
	}
	i := sort.Search(len(s), func(i int) bool { return s[i].Start > r.Start })
	// The one that begins last before the range, or the last of all, may reach into it;
	// of those that begin in it, the next one does, or the first of all.
	return s[(i+len(s)-1)%len(s)].Contains(r.Start) || r.Contains(s[i%len(s)].Start)
}
