package buckets

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// zoning keeps copies of a bucket from lying in one zone: see [ring.Zones].
type zoning struct {
	zone []int32 // of each member; nil if no two are in one zone
	most int     // copies of a bucket in a zone
}

func newZoning(members []ring.Member, copies int) zoning {
	zones := ring.ZonesOf(members)
	if zones == nil {
		return zoning{}
	}
	z := zoning{zone: make([]int32, len(members)), most: zones.Most(copies)}
	for i, m := range members {
		z.zone[i] = zones.Of(m.ID)
	}
	return z
}

// crowded reports whether a zone has all the copies that it may have, besides that of one member.
func (z zoning) crowded(holders []int32, besides, zone int32) bool {
	n := 0
	for _, m := range holders {
		if m != besides && z.zone[m] == zone {
			n++
		}
	}
	return n >= z.most
}

// bars reports whether a member cannot have a copy of a bucket, in the place of another one or, if that is
// gone, beside all holders.
func (z zoning) bars(holders []int32, from, to int32) bool {
	return slices.Contains(holders, to) || z.zone != nil && z.crowded(holders, from, z.zone[to])
}

// first returns the first members of an order that may hold copies together, n at most.
func (z zoning) first(order []int32, n int) []int32 {
	var chosen []int32
	for _, m := range order {
		if len(chosen) < n && !z.bars(chosen, gone, m) {
			chosen = append(chosen, m)
		}
	}
	return chosen
}

// room returns whether a member's zone has all the copies of so many buckets that it may have.
func (z zoning) room(buckets int) func(totals []int, m int) bool {
	return func(totals []int, m int) bool {
		if z.zone == nil {
			return false
		}
		sum := 0
		for other, total := range totals {
			if z.zone[other] == z.zone[m] {
				sum += total
			}
		}
		return sum >= z.most*buckets
	}
}

// regain exchanges members that lost a bucket only because others in their zone have it too: those that have
// too few buckets get it back from those that have too many, which moves nothing.
func (b *balance) regain() {
	if b.zone == nil {
		return
	}
	for _, i := range b.order {
		this := &b.all[i]
		for _, to := range this.had {
			if b.held[to] >= b.totals[to] || slices.Contains(this.holders, to) {
				continue
			}
			from := slices.IndexFunc(this.holders, func(m int32) bool {
				return b.held[m] > b.totals[m] && !b.bars(this.holders, m, to)
			})
			if from >= 0 {
				b.give(i, this.holders[from], to)
			}
		}
	}
}

// cheapen exchanges copies as long as fewer then travel. Without zones nothing could be cheaper here: see
// moveCopies.
func (b *balance) cheapen() {
	if b.zone == nil {
		return
	}
	any := func(m int) bool { return m < len(b.members) }
	none := func(int) bool { return false }
	b.cheapestTrade(any, none)
}

// fillRest gives the copies that buckets still lack to the members that have the least above their totals:
// where zones and overrides leave members no room, quotas come second.
func (b *balance) fillRest() {
	for _, i := range b.order {
		this := &b.all[i]
		for len(this.holders) < b.copies {
			best := int32(gone)
			for m := range int32(len(b.members)) {
				if !b.bars(this.holders, gone, m) && (best == gone || b.held[m]-b.totals[m] < b.held[best]-b.totals[best]) {
					best = m
				}
			}
			if best == gone {
				return // there are not so many members
			}
			b.give(i, gone, best)
		}
	}
}

// A step of a path takes a bucket from one member to another.
type step struct{ bucket, from, to int32 }

// apart returns a path without two steps that bring copies of one bucket into one zone, each of which is
// possible only by itself. What is between them is left out: it cannot make the path cheaper, or it would
// be a circle that does so. Where the path is a circle, inner is the circle that was left out.
func (z zoning) apart(path []step) (outer, inner []step) {
	if z.zone == nil {
		return path, nil
	}
	enters := func(s step) bool { return s.from == gone || z.zone[s.from] != z.zone[s.to] }
	for a := range path {
		for e := len(path) - 1; e > a; e-- {
			first, last := path[a], path[e]
			if first.bucket != last.bucket || z.zone[first.to] != z.zone[last.to] || !enters(first) || !enters(last) {
				continue
			}
			outer = append(slices.Clone(path[:a]), step{first.bucket, first.from, last.to})
			outer = append(outer, path[e+1:]...)
			inner = append(slices.Clone(path[a+1:e]), step{first.bucket, last.from, first.to})
			return outer, inner
		}
	}
	return path, nil
}
