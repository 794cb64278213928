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
	// Primary reports that the receiver is to serve the range, and not only to keep a
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
				plan.Lost = extend(plan.Lost, r)
			}
			continue
		}
		if will.Primary != was.Primary && was.Holds(will.Primary) {
			plan.Promotions = extend(plan.Promotions, Promotion{r, was.Primary, will.Primary})
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
			h.Pieces = extend(h.Pieces, piece)
		}
		for _, node := range releases {
			plan.Drops = extend(plan.Drops, Drop{r, node})
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

func (r *Range) span() *Range     { return r }
func (p *Piece) span() *Range     { return &p.Range }
func (p *Promotion) span() *Range { return &p.Range }
func (d *Drop) span() *Range      { return &d.Range }

// extend appends to a list, or makes its last element longer if that ends where the
// next begins and they are alike but for their ranges.
func extend[T comparable, P interface {
	*T
	span() *Range
}](list []T, next T) []T {
	if n := len(list); n > 0 && P(&list[n-1]).span().End == P(&next).span().Start {
		moved := list[n-1]
		*P(&moved).span() = *P(&next).span()
		if moved == next {
			P(&list[n-1]).span().End = P(&next).span().End
			return list
		}
	}
	return append(list, next)
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
