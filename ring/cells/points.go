package cells

import (
	"cmp"
	"math/bits"
	"slices"
)

// A circle holds points of nodes, ordered by position.
type circle struct {
	points []point
	nodes  int     // that have points
	other  []int32 // for each point, the next one of another node, as in [nextOther]
	// first holds, for each part of the circle, the first point at or after its start. Parts are as
	// many as points, or up to twice as many.
	first []int32
	shift int
}

type point struct {
	at   uint64
	node int
}

// newCircle places counts[i] points of each node.
func newCircle(nodes []Node, counts []int) *circle {
	c := &circle{}
	for i, n := range nodes {
		if counts[i] > 0 {
			c.nodes++
		}
		for p := range counts[i] {
			c.points = append(c.points, point{mix(n.Hash + mix(uint64(p))), i})
		}
	}
	slices.SortFunc(c.points, func(a, b point) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) })
	c.other = nextOther(len(c.points), func(i int) int { return c.points[i].node })
	c.shift = 64 - bits.Len(uint(len(c.points)))
	c.first = make([]int32, 1<<(64-c.shift))
	at := 0
	for i := range c.first {
		for at < len(c.points) && c.points[at].at < uint64(i)<<c.shift {
			at++
		}
		c.first[i] = int32(at)
	}
	return c
}

// after returns the index of the first point at or after a position.
func (c *circle) after(at uint64) int {
	i := int(c.first[at>>c.shift])
	for i < len(c.points) && c.points[i].at < at {
		i++
	}
	if i == len(c.points) {
		return 0
	}
	return i
}

// distinct goes over the points from a position on that are the first ones of their nodes, until
// yield returns false.
func (c *circle) distinct(at uint64, yield func(p point) bool) {
	var room [8]int
	seen := room[:0]
	for i := int32(c.after(at)); ; i = c.other[i] {
		p := c.points[i]
		if slices.Contains(seen, p.node) {
			continue
		}
		seen = append(seen, p.node)
		if !yield(p) || len(seen) == c.nodes {
			return
		}
	}
}

// nextOther returns, for each of n entries in a circle, the next entry of another node. All are 0 if
// there is one node only. A walk that follows it passes a long run of one node, which has nearly all
// of the weight, in one step.
func nextOther(n int, nodeOf func(i int) int) []int32 {
	next := make([]int32, n)
	// The last entries know what follows them only in the second round.
	for i := 2*n - 2; i >= 0; i-- {
		at, after := i%n, (i+1)%n
		if nodeOf(after) != nodeOf(at) {
			next[at] = int32(after)
		} else {
			next[at] = next[after]
		}
	}
	return next
}
