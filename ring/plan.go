package ring

import (
	"cmp"
	"maps"
	"slices"
)

// A Plan is the rebalance that turns one placement into another: what has to
// travel, what only changes its role, and what is given up.
type Plan struct {
	// Handoffs are the copies that travel, one handoff for each pair of nodes,
	// ordered by From and To.
	Handoffs []Handoff
	// Promotions are the ranges whose new primary has a copy already.
	Promotions []Promotion
	// Drops are the copies that are given up with nothing in their place.
	Drops []Drop
	// Lost are the ranges of which no copy is left: their new owners start empty.
	Lost []Range
}

// A Handoff is one movement of ranges from one node to another.
type Handoff struct {
	From, To string
	Pieces   []Piece
}

// A Piece is one range of a handoff. Neighbours of one kind are one piece.
type Piece struct {
	Range Range
	// Primary tells that the receiver is to serve the range, and not only to keep a
	// backup of it.
	Primary bool
	// Release is the node that gives up its copy once the receiver has one; empty if
	// the range gains a copy.
	Release string
}

// A Promotion is a range that changes its primary without moving.
type Promotion struct {
	Range    Range
	From, To string // From is empty if the range had no primary
}

// A Drop is a copy that is not wanted any more.
type Drop struct {
	Range Range
	Node  string
}

// Load is what travels in the handoff, given what lies in a range. It is the sum of
// its pieces.
func (h *Handoff) Load(of func(Range) Load) Load {
	var sum Load
	for _, p := range h.Pieces {
		sum = sum.Add(of(p.Range))
	}
	return sum
}

// NewPlan compares two placements. All nodes of the present one count as alive: nodes
// that failed are taken out before, with [Placement.Without]. A copy travels from the
// range's present primary, which alone has an order of writes to share. Learners of
// either placement do not count.
func NewPlan(present, desired *Placement) *Plan {
	type pair struct{ from, to string }
	handoffs := make(map[pair]*Handoff)
	plan := &Plan{}
	for r, rows := range Overlay(present, desired) {
		was, will := rows[0], rows[1]
		if was.Primary == "" {
			if will.Primary != "" {
				plan.Lost = appendRange(plan.Lost, r)
			}
			continue
		}
		if will.Primary != was.Primary && was.Holds(will.Primary) {
			plan.promote(Promotion{r, was.Primary, will.Primary})
		}
		releases := released(was, will)
		for to := range will.Copies() {
			if was.Holds(to) {
				continue
			}
			piece := Piece{Range: r, Primary: to == will.Primary}
			if len(releases) > 0 {
				piece.Release, releases = releases[0], releases[1:]
			}
			key := pair{was.Primary, to}
			h := handoffs[key]
			if h == nil {
				h = &Handoff{From: key.from, To: key.to}
				handoffs[key] = h
			}
			h.add(piece)
		}
		for _, node := range releases {
			plan.drop(Drop{r, node})
		}
	}
	for _, h := range slices.SortedFunc(maps.Values(handoffs), func(a, b *Handoff) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	}) {
		plan.Handoffs = append(plan.Handoffs, *h)
	}
	return plan
}

// released lists who gives up a copy, the old primary first: a new primary that
// receives its copy takes that one's place.
func released(was, will *Row) []string {
	var nodes []string
	for node := range was.Copies() {
		if !will.Holds(node) {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

func (h *Handoff) add(p Piece) {
	if n := len(h.Pieces); n > 0 {
		last := &h.Pieces[n-1]
		if last.Range.End == p.Range.Start && last.Primary == p.Primary && last.Release == p.Release {
			last.Range.End = p.Range.End
			return
		}
	}
	h.Pieces = append(h.Pieces, p)
}

func (plan *Plan) promote(p Promotion) {
	if n := len(plan.Promotions); n > 0 {
		last := &plan.Promotions[n-1]
		if last.Range.End == p.Range.Start && last.From == p.From && last.To == p.To {
			last.Range.End = p.Range.End
			return
		}
	}
	plan.Promotions = append(plan.Promotions, p)
}

func (plan *Plan) drop(d Drop) {
	if n := len(plan.Drops); n > 0 {
		last := &plan.Drops[n-1]
		if last.Range.End == d.Range.Start && last.Node == d.Node {
			last.Range.End = d.Range.End
			return
		}
	}
	plan.Drops = append(plan.Drops, d)
}

func appendRange(ranges []Range, r Range) []Range {
	if n := len(ranges); n > 0 && ranges[n-1].End == r.Start {
		ranges[n-1].End = r.End
		return ranges
	}
	return append(ranges, r)
}

// Overlay goes over the pieces into which two placements together cut the circle,
// in the order of the tokens from 0 on, with the row that each of them has there.
// No piece wraps.
func Overlay(a, b *Placement) func(yield func(Range, [2]*Row) bool) {
	return func(yield func(Range, [2]*Row) bool) {
		i, j := a.Index(0), b.Index(0)
		for at := Token(0); ; {
			x, y := &a.rows[i], &b.rows[j]
			// Distances to the ends, so that an end at 0 is the farthest.
			toX, toY := toEnd(at, x.Range.End), toEnd(at, y.Range.End)
			n := min(toX, toY, 1<<32-uint64(at))
			end := at + Token(n)
			if !yield(Range{at, end}, [2]*Row{x, y}) || end == 0 {
				return
			}
			at = end
			if n == toX {
				i = (i + 1) % len(a.rows)
			}
			if n == toY {
				j = (j + 1) % len(b.rows)
			}
		}
	}
}

// toEnd is the number of tokens from one up to the end of the range that it lies in.
func toEnd(at, end Token) uint64 {
	if at == end {
		return 1 << 32
	}
	return uint64(end - at)
}
