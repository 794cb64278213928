package cells

import (
	"cmp"
	"math/bits"
	"slices"
)

// A circle holds points of nodes, ordered by position.
type circle struct {
	points []point
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
		for p := range counts[i] {
			c.points = append(c.points, point{mix(n.Hash + mix(uint64(p))), i})
		}
	}
	slices.SortFunc(c.points, func(a, b point) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.node, b.node)) })
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
	i := c.after(at)
	for range c.points {
		p := c.points[i]
		if i++; i == len(c.points) {
			i = 0
		}
		if slices.Contains(seen, p.node) {
			continue
		}
		if !yield(p) {
			return
		}
		seen = append(seen, p.node)
	}
}
