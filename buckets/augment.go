package buckets

import "slices"

// An exchange is a copy that could change hands.
type exchange struct {
	bucket int32
	cost   int8 // copies more that travel: −1 if a move is taken back
}

const impossible = 2 // above every cost of an exchange

// A trade is the cheapest way to take one bucket from one member, over any number of
// exchanges with others, to another.
type trade struct {
	edges []exchange // from a member, or from a missing copy, to a member
	from  []int      // before each member on the way, gone at its start
	end   int
	cost  int
}

// augment lets one member that lacks a bucket have one, from one that has too many
// or from a bucket that lacks a copy. It returns false when no member lacks any.
//
// This is a step of the successive shortest path algorithm for flows of least cost
// (Busacker and Gowen; Jewell; Iri).
func (b *balance) augment() bool {
	lacks := func(m int) bool { return b.held[m] < b.totals[m] }
	lacking := false
	for m := range b.members {
		lacking = lacking || lacks(m)
	}
	if !lacking {
		return false
	}
	full := func(m int) bool { return m == len(b.members) || b.held[m] > b.totals[m] }
	t, ok := b.cheapestTrade(full, lacks)
	if ok {
		b.carryOut(t)
	}
	return ok
}

// improve looks for a member with the ceiling of its quota whose excess over the
// floor would have cost less at another, and trades. It returns false when there is
// none, which then is the cheapest choice of ceilings.
func (b *balance) improve() bool {
	if b.zone == nil && b.travelling() == b.least {
		// Nothing can be better, so nothing needs to be searched. In zones least is no bound: it counts copies
		// that were one too many for their zone, which their members may take back.
		return false
	}
	above := func(m int) bool { return m < len(b.members) && b.held[m] > b.floors[m] }
	below := func(m int) bool { return b.held[m] < b.ceilings[m] }
	t, ok := b.cheapestTrade(above, below)
	if !ok || t.cost >= 0 {
		return false
	}
	b.carryOut(t)
	return true
}

// travelling is how many copies are on their way to a member.
func (b *balance) travelling() int {
	n := 0
	for i := range b.all {
		for _, m := range b.all[i].holders {
			if !slices.Contains(b.all[i].had, m) {
				n++
			}
		}
	}
	return n
}

// cheapestTrade finds the cheapest way from any of the starts, which may be
// len(members) for a missing copy, to any of the ends. Exchanges that take moves back
// have negative costs, hence Bellman and Ford's search.
func (b *balance) cheapestTrade(isStart, isEnd func(m int) bool) (t trade, found bool) {
	for {
		t, found, circle := b.search(isStart, isEnd)
		if circle < 0 {
			return t, found
		}
		b.carryOutCircle(t, circle)
	}
}

// search is one search of cheapestTrade. If it finds a circle with a negative sum, it
// returns a member on it, otherwise −1. Of a flow that is the cheapest of its amount there
// is none; but it may not be that, where copies that were there have been dropped as too
// many.
func (b *balance) search(isStart, isEnd func(m int) bool) (t trade, found bool, circle int) {
	const far = 1 << 30
	n := len(b.members)
	t = trade{edges: b.exchanges(), from: make([]int, n+1)}
	distance := make([]int, n+1)
	for m := range distance {
		distance[m], t.from[m] = far, gone
		if isStart(m) {
			distance[m] = 0
		}
	}
	for changed, rounds := true, 0; changed; rounds++ {
		changed = false
		for u := range n + 1 {
			if distance[u] == far {
				continue
			}
			for v, e := range t.edges[u*n : (u+1)*n] {
				if e.cost != impossible && distance[u]+int(e.cost) < distance[v] {
					distance[v], t.from[v] = distance[u]+int(e.cost), u
					changed, circle = true, v
				}
			}
		}
		if changed && rounds > n {
			for range n + 1 { // from where it leads to, back onto it
				circle = t.from[circle]
			}
			return t, false, circle
		}
	}
	for m := range n {
		if isEnd(m) && t.from[m] != gone && (!found || distance[m] < t.cost) {
			t.end, t.cost, found = m, distance[m], true
		}
	}
	return t, found, -1
}

// carryOutCircle carries out the exchanges of a circle, by which fewer copies travel.
func (b *balance) carryOutCircle(t trade, member int) {
	var circle []step
	for v, first := member, true; first || v != member; first = false {
		circle = append(circle, b.step(t, v))
		v = t.from[v]
	}
	slices.Reverse(circle)
	for outer, inner := b.apart(circle); inner != nil; outer, inner = b.apart(circle) {
		// Of the two circles one has a negative sum.
		if circle = outer; b.cost(inner) < b.cost(outer) {
			circle = inner
		}
	}
	b.take(circle)
}

func (b *balance) carryOut(t trade) {
	var path []step
	for v := t.end; t.from[v] != gone; v = t.from[v] {
		path = append(path, b.step(t, v))
	}
	slices.Reverse(path)
	for outer, inner := b.apart(path); inner != nil; outer, inner = b.apart(path) {
		path = outer
	}
	b.take(path)
}

// step is the exchange by which a trade reaches a member.
func (b *balance) step(t trade, to int) step {
	from, n := t.from[to], len(b.members)
	s := step{t.edges[from*n+to].bucket, int32(from), int32(to)}
	if from == n {
		s.from = gone
	}
	return s
}

func (b *balance) take(path []step) {
	for _, s := range path {
		b.give(s.bucket, s.from, s.to)
	}
}

// cost is how many copies more travel by a path.
func (b *balance) cost(path []step) int {
	sum := 0
	for _, s := range path {
		if had := b.all[s.bucket].had; !slices.Contains(had, s.to) {
			sum++
		}
		if had := b.all[s.bucket].had; s.from != gone && !slices.Contains(had, s.from) {
			sum--
		}
	}
	return sum
}

// exchanges finds for each pair of members the cheapest copy that the first could
// give the second; in the last row, the missing copies that each could take.
func (b *balance) exchanges() []exchange {
	n := len(b.members)
	edges := make([]exchange, (n+1)*n)
	for i := range edges {
		edges[i].cost = impossible
	}
	for _, i := range b.order {
		this := &b.all[i]
		givers := this.holders
		if len(givers) < b.copies {
			givers = append(slices.Clone(givers), int32(n))
		}
		for v := range n {
			if slices.Contains(this.holders, int32(v)) {
				continue
			}
			receipt := int8(1)
			if slices.Contains(this.had, int32(v)) {
				receipt = 0
			}
			for _, u := range givers {
				if b.zone != nil && b.crowded(this.holders, u, b.zone[v]) {
					continue
				}
				cost := receipt
				if int(u) != n && !slices.Contains(this.had, u) {
					cost-- // the giver was about to receive it
				}
				if e := &edges[int(u)*n+v]; cost < e.cost {
					*e = exchange{bucket: i, cost: cost}
				}
			}
		}
	}
	return edges
}
