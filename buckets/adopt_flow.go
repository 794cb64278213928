package buckets

import (
	"math"
	"slices"
)

// An adoption finds who should hold which buckets so that every member has its quota and the least
// tokens are copied. It is a flow of least cost: each bucket begins with the members that have most
// of it, which is the cheapest choice without quotas, and copies then go along shortest paths from
// members above their quota to members below it (successive shortest paths). A member's cost is
// convex: a bucket above its ceiling, or one that it lacks to its floor, costs more than any
// copying.
type adoption struct {
	*balance
	stakes [][]stake // of each bucket
	// holds lists the buckets of each member in an order of its own.
	holds [][]int32
	// best is, for each pair of members, the cheapest move of a bucket from the one to the other.
	best [][]move
}

// A move of one copy costs what the receiver has to copy, less what the giver would have to.
type move struct {
	bucket int32 // gone: none is possible
	cost   int64
}

// outside is the cost of a bucket outside of a member's quota: more than any path of moves.
const outside = 1 << 50

func newAdoption(b *balance, stakes [][]stake) *adoption {
	x := &adoption{balance: b, stakes: stakes, holds: b.bucketsByMember(), best: make([][]move, len(b.members))}
	for m := range x.best {
		x.best[m] = make([]move, len(b.members))
		x.look(int32(m))
	}
	return x
}

// has returns how many tokens of a bucket a member has.
func (x *adoption) has(i, m int32) int64 {
	for _, s := range x.stakes[i] {
		if s.member == m {
			return s.held
		}
	}
	return 0
}

// look finds the cheapest moves from a member.
func (x *adoption) look(from int32) {
	row := x.best[from]
	for to := range row {
		row[to] = move{gone, math.MaxInt64}
	}
	costs := make([]int64, len(row))
	for _, i := range x.holds[from] {
		lost := x.has(i, from)
		for to := range costs {
			costs[to] = lost
		}
		for _, s := range x.stakes[i] {
			costs[s.member] -= s.held
		}
		holders := x.all[i].holders
		for _, m := range holders {
			costs[m] = math.MaxInt64
		}
		for to, cost := range costs {
			if cost < row[to].cost && !x.bars(holders, from, int32(to)) {
				row[to] = move{i, cost}
			}
		}
	}
}

// leaving is the cost of one bucket less at a member, besides copying.
func (x *adoption) leaving(m int32) int64 {
	switch {
	case x.held[m] > x.ceilings[m]:
		return -outside
	case x.held[m] <= x.floors[m]:
		return outside
	}
	return 0
}

// entering is the cost of one bucket more at a member, besides copying.
func (x *adoption) entering(m int32) int64 {
	switch {
	case x.held[m] < x.floors[m]:
		return -outside
	case x.held[m] >= x.ceilings[m]:
		return outside
	}
	return 0
}

// run moves copies until no path of moves makes the placement cheaper.
func (x *adoption) run() {
	for {
		via, to := x.path()
		if to == gone {
			return
		}
		var path []step
		for ; via[to] != gone; to = via[to] {
			path = append(path, step{x.best[via[to]][to].bucket, via[to], to})
		}
		slices.Reverse(path)
		for outer, inner := x.apart(path); inner != nil; outer, inner = x.apart(path) {
			path = outer
		}
		changed := make(map[int32]bool)
		for _, s := range path {
			for _, m := range x.all[s.bucket].holders {
				changed[m] = true
			}
			x.give(s.bucket, s.from, s.to)
			x.holds[s.from] = slices.DeleteFunc(x.holds[s.from], func(j int32) bool { return s.bucket == j })
			x.holds[s.to] = append(x.holds[s.to], s.bucket)
			changed[s.to] = true
		}
		for m := range x.best { // in their order, so that all nodes find the same
			if changed[int32(m)] {
				x.look(int32(m))
			}
		}
	}
}

// path finds the cheapest path by the algorithm of Bellman and Ford: there are no circles with costs
// below 0. to is its end, gone if no path makes anything cheaper, and via the member before each.
func (x *adoption) path() (via []int32, to int32) {
	n := len(x.members)
	via = make([]int32, n)
	cost := make([]int64, n)
	for m := range cost {
		via[m], cost[m] = gone, math.MaxInt64
		if x.held[m] > 0 {
			cost[m] = x.leaving(int32(m))
		}
	}
	for again := true; again; {
		again = false
		for from, best := range x.best {
			if cost[from] == math.MaxInt64 {
				continue
			}
			for to, move := range best {
				if move.bucket != gone && cost[from]+move.cost < cost[to] {
					cost[to], via[to] = cost[from]+move.cost, int32(from)
					again = true
				}
			}
		}
	}
	to = gone
	least := int64(0)
	for m := range cost {
		if via[m] == gone {
			continue // the beginning of a path is no end
		}
		if c := cost[m] + x.entering(int32(m)); c < least {
			least, to = c, int32(m)
		}
	}
	return via, to
}
