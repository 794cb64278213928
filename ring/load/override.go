package load

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// override gives a range to a node and returns the overrides that hold then. The range is served by one
// node, primary, and overrides are ordered and disjoint.
func override(all []ring.Override, r ring.Range, node, primary string) []ring.Override {
	var next []ring.Override
	home := primary
	for _, o := range all {
		if !overlap(o.Range, r) {
			next = append(next, o)
			continue
		}
		if o.Node == primary {
			home = o.Home
		}
		next = append(next, cutOut(o, r)...)
	}
	if node != home {
		next = append(next, ring.Override{Range: r, Node: node, Home: home})
	}
	slices.SortFunc(next, func(a, b ring.Override) int { return cmp.Compare(a.Range.Start, b.Range.Start) })
	return joined(next)
}

func overlap(a, b ring.Range) bool { return a.Contains(b.Start) || b.Contains(a.Start) }

// cutOut returns what is left of an override without a range.
func cutOut(o ring.Override, r ring.Range) []ring.Override {
	var left []ring.Override
	if r.Start == r.End {
		return nil
	}
	if o.Range.Start == o.Range.End { // the whole circle
		o.Range = ring.Range{Start: r.End, End: r.Start}
		return []ring.Override{o}
	}
	if before := uint64(r.Start - o.Range.Start); before > 0 && before < o.Range.Len() {
		left = append(left, ring.Override{Range: ring.Range{Start: o.Range.Start, End: r.Start}, Node: o.Node, Home: o.Home})
	}
	if from := uint64(r.End - o.Range.Start); from > 0 && from < o.Range.Len() {
		left = append(left, ring.Override{Range: ring.Range{Start: r.End, End: o.Range.End}, Node: o.Node, Home: o.Home})
	}
	return left
}

// joined makes one of neighbours that are alike. Over token 0 nothing is joined.
func joined(all []ring.Override) []ring.Override {
	var next []ring.Override
	for _, o := range all {
		if n := len(next); n > 0 && o.Range.Start != 0 {
			if last := &next[n-1]; last.Range.End == o.Range.Start && last.Node == o.Node && last.Home == o.Home && o.Range.End != last.Range.Start {
				last.Range.End = o.Range.End
				continue
			}
		}
		next = append(next, o)
	}
	return next
}
