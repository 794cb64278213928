package buckets

import (
	"cmp"
	"math"
	"slices"
)

// quotas is how many buckets each member should have: the floor or the ceiling of
// its quota.
type quotas struct {
	floors, ceilings []int
	// totals are the choice between them: they add up to all copies.
	totals []int
	// least is how many copies must travel at least, whatever is chosen: the sum of
	// what members lack. It may be more than that, since a member can only receive
	// buckets that it does not have.
	least int
}

// rounding is how far a quota may be off for being computed in floating point.
const rounding = 1e-6

// newQuotas rounds exact quotas, which add up to all copies. The ceiling goes first to those who have
// more than the floor, since there it saves a move. full reports that a member's zone has no room for
// one more.
func newQuotas(shares []float64, held []int, copies int, full func(totals []int, m int) bool) quotas {
	n := len(shares)
	q := quotas{floors: make([]int, n), ceilings: make([]int, n)}
	rest := make([]float64, n)
	order := make([]int, n)
	left := copies
	for i, exact := range shares {
		q.floors[i] = int(math.Floor(exact + rounding))
		q.ceilings[i] = int(math.Ceil(exact - rounding))
		rest[i] = exact - float64(q.floors[i])
		left -= q.floors[i]
		order[i] = i
	}
	rank := func(i int) int {
		switch {
		case q.ceilings[i] == q.floors[i]:
			return 2
		case held[i] > q.floors[i]:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(rank(i), rank(j)), cmp.Compare(rest[j], rest[i]))
	})
	q.totals = slices.Clone(q.floors)
	for _, i := range order {
		if left > 0 && !full(q.totals, i) {
			q.totals[i]++
			left--
		}
	}
	for i, total := range q.totals {
		q.least += max(0, total-held[i])
	}
	return q
}
