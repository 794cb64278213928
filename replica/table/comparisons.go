package table

import (
	"cmp"
	"slices"
	"sort"

	"github.com/ringside-kv/ringside/ring"
)

// Comparisons say when what lies in which part of the circle was last compared with its
// backups, or read where there are none: in seconds since 1970, by the clock of the node
// that did it, and 0 where that was never. They belong to tokens and not to rows, so
// that they stay whatever becomes of bounds and primaries. A value never changes; the zero
// one is for what was never compared.
type Comparisons struct{ from []compared }

// compared is what holds from a token up to that of the next one. The first is at token 0,
// and no two neighbours say the same.
type compared struct {
	Start ring.Token
	At    int64
}

// A Comparison is a part of the circle and when it was compared.
type Comparison struct {
	Range ring.Range
	At    int64 // seconds since 1970
}

// A span is tokens from one up to another, which does not wrap.
type span struct{ from, to uint64 }

const circle = 1 << 32

// spans are a range as one or two that do not wrap.
func spans(r ring.Range) []span {
	from, to := uint64(r.Start), uint64(r.Start)+r.Len()
	if to <= circle {
		return []span{{from, to}}
	}
	return []span{{from, circle}, {0, to - circle}}
}

// after is the place of the first that begins behind a token: what is before it in the
// list holds at the token.
func (c Comparisons) after(at uint64) int {
	return sort.Search(len(c.from), func(i int) bool { return uint64(c.from[i].Start) > at })
}

// Oldest is when that part of a range was compared for which it is longest ago; 0 if some
// of it never was.
func (c Comparisons) Oldest(r ring.Range) int64 {
	if len(c.from) == 0 {
		return 0
	}
	oldest := c.from[c.after(uint64(r.Start))-1].At
	for _, s := range spans(r) {
		for i := c.after(s.from) - 1; i < len(c.from) && uint64(c.from[i].Start) < s.to; i++ {
			oldest = min(oldest, c.from[i].At)
		}
	}
	return oldest
}

// With are these with others, of which the last holds where they overlap.
func (c Comparisons) With(parts ...Comparison) Comparisons {
	type piece struct {
		span
		at int64
	}
	var pieces []piece
	for _, p := range parts {
		for _, s := range spans(p.Range) {
			pieces = append(pieces, piece{s, p.At})
		}
	}
	byFrom := func(a, b piece) int { return cmp.Compare(a.from, b.from) }
	if !slices.IsSortedFunc(pieces, byFrom) {
		slices.SortStableFunc(pieces, byFrom)
	}
	for i := 1; i < len(pieces); i++ {
		if pieces[i].from < pieces[i-1].to { // rare: one after the other
			for _, p := range parts {
				c = c.With(p)
			}
			return c
		}
	}
	next := Comparisons{make([]compared, 0, len(c.from)+2*len(pieces)+1)}
	put := func(at uint64, when int64) {
		if n := len(next.from); n == 0 || next.from[n-1].At != when {
			next.from = append(next.from, compared{ring.Token(at), when})
		}
	}
	keep := func(s span) { // what holds there as it is
		if s.from == s.to {
			return
		}
		i := c.after(s.from)
		if i == 0 {
			put(s.from, 0)
		} else {
			put(s.from, c.from[i-1].At)
		}
		for ; i < len(c.from) && uint64(c.from[i].Start) < s.to; i++ {
			put(uint64(c.from[i].Start), c.from[i].At)
		}
	}
	done := uint64(0)
	for _, p := range pieces {
		keep(span{done, p.from})
		put(p.from, p.at)
		done = p.to
	}
	keep(span{done, circle})
	if len(next.from) == 1 && next.from[0].At == 0 {
		return Comparisons{}
	}
	next.from = slices.Clip(next.from)
	return next
}

// All are the parts that have been compared, in the order of their tokens.
func (c Comparisons) All() (parts []Comparison) {
	for i, from := range c.from {
		if from.At == 0 {
			continue
		}
		r := ring.Range{Start: from.Start, End: c.from[(i+1)%len(c.from)].Start}
		parts = append(parts, Comparison{r, from.At})
	}
	return parts
}

func (c *Comparisons) code(x *codec) {
	before := uint64(0)
	list(x, &c.from, 2, func(p *compared) {
		far := uint64(p.Start) - before
		x.number(&far)
		if before += far; before >= circle || far >= circle {
			x.fail("a start beyond the circle")
		}
		p.Start = ring.Token(before)
		x.signed(&p.At)
	})
}

// sound reports whether they are such as With makes them.
func (c Comparisons) sound() bool {
	for i, p := range c.from {
		switch {
		case p.At < 0 || i == 0 && p.Start != 0:
			return false
		case i > 0 && (p.Start <= c.from[i-1].Start || p.At == c.from[i-1].At):
			return false
		}
	}
	return len(c.from) != 1 || c.from[0].At != 0
}
