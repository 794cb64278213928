package sim

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"

	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// Beyond these a grid is not looked at by anyone.
const (
	maxGridBuckets = 1024
	maxGridNodes   = 64
)

// gridOf draws the placement of buckets; nil for other strategies, and if there would
// be too much of it.
func gridOf(s ring.Strategy, p *ring.Placement, scene *scene) *Grid {
	if s.Name() != strategy.Buckets || p.Len() > maxGridBuckets || len(scene.members) > maxGridNodes {
		return nil
	}
	column := make(map[string]int, len(scene.members))
	for i, m := range scene.members {
		column[m.ID] = i
	}
	type bucket struct {
		id, mask uint32
		owners   []int
	}
	buckets := make([]bucket, 0, p.Len())
	for row := range p.Rows() {
		// A token is a hash with its bits reversed, so a bucket's id is its start
		// reversed again, and its mask has a bit for each halving of the circle.
		b := bucket{
			id:   bits.Reverse32(uint32(row.Range.Start)),
			mask: uint32(1<<(32-bits.Len64(row.Range.Len()-1)) - 1),
		}
		for node := range row.Copies() {
			b.owners = append(b.owners, column[node])
		}
		buckets = append(buckets, b)
	}
	slices.SortFunc(buckets, func(a, b bucket) int {
		return cmp.Or(cmp.Compare(a.mask, b.mask), cmp.Compare(a.id, b.id))
	})
	g := &Grid{}
	for _, b := range buckets {
		digits := max(1, (bits.Len32(b.mask)+3)/4)
		g.Buckets = append(g.Buckets, fmt.Sprintf("%0*X/%0*X", digits, b.id, digits, b.mask))
		g.Owners = append(g.Owners, b.owners)
	}
	return g
}
