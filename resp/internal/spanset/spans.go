package spanset

import (
	"encoding/binary"

	"github.com/ringside-kv/ringside/ring"
)

// lastOf is the last token of a span.
func lastOf(span ring.Range) ring.Token { return span.End - 1 }

// Intersect returns what lies in spans of both.
func Intersect(a, b []ring.Range) (both []ring.Range) {
	for i, j := 0, 0; i < len(a) && j < len(b); {
		first, last := max(a[i].Start, b[j].Start), min(lastOf(a[i]), lastOf(b[j]))
		if first <= last {
			both = append(both, ring.Range{Start: first, End: last + 1})
		}
		if lastOf(a[i]) < lastOf(b[j]) {
			i++
		} else {
			j++
		}
	}
	return both
}

// Cover reports whether all of the spans in part lie in spans of all, each in one of them.
func Cover(all, part []ring.Range) bool {
	i := 0
	for _, span := range part {
		for i < len(all) && lastOf(all[i]) < span.Start {
			i++
		}
		if i == len(all) || all[i].Start > span.Start || lastOf(all[i]) < lastOf(span) {
			return false
		}
	}
	return true
}

// spanSize is what a span takes in a message: its first and its last token, big-endian.
const spanSize = 8

// Append appends spans for a message.
func Append(b []byte, spans []ring.Range) []byte {
	for _, span := range spans {
		b = binary.BigEndian.AppendUint32(b, uint32(span.Start))
		b = binary.BigEndian.AppendUint32(b, uint32(lastOf(span)))
	}
	return b
}

// Parse reads what [Append] writes; ok is false if b is not that.
func Parse(b []byte) (spans []ring.Range, ok bool) {
	if len(b)%spanSize != 0 {
		return nil, false
	}
	for ; len(b) > 0; b = b[spanSize:] {
		first, last := ring.Token(binary.BigEndian.Uint32(b)), ring.Token(binary.BigEndian.Uint32(b[4:]))
		if last < first || len(spans) > 0 && first <= lastOf(spans[len(spans)-1]) {
			return nil, false
		}
		spans = append(spans, ring.Range{Start: first, End: last + 1})
	}
	return spans, true
}

// OfRows returns the spans of those rows of a placement that are in the set, in the order of their tokens: those that lie
// side by side are one, the one that wraps is two.
func OfRows(p *ring.Placement, in func(row int) bool) (spans []ring.Range) {
	add := func(span ring.Range) {
		if n := len(spans); n > 0 && spans[n-1].End == span.Start && span.Start != 0 {
			spans[n-1].End = span.End
			return
		}
		spans = append(spans, span)
	}
	last := p.Len() - 1
	wraps := last >= 0 && in(last) && p.Row(last).Range.Wraps()
	if wraps { // its piece from token 0 on comes first
		add(ring.Range{End: p.Row(last).Range.End})
	}
	for i := range p.Len() {
		switch row := p.Row(i); {
		case !in(i):
		case i == last && wraps:
			add(ring.Range{Start: row.Range.Start})
		default:
			add(row.Range)
		}
	}
	return spans
}
