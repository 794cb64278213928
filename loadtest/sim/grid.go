package sim

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/ringside-kv/ringside/buckets"
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
	column := scene.columns()
	type bucket struct {
		buckets.Hashmask
		owners []int
	}
	all := make([]bucket, 0, p.Len())
	for row := range p.Rows() {
		// A bucket's mask has a bit for each halving of the circle.
		var b bucket
		b.ID = buckets.HashOf(row.Range.Start)
		b.Mask = uint32(1<<(32-bits.Len64(row.Range.Len()-1)) - 1)
		for node := range row.Copies() {
			b.owners = append(b.owners, column[node])
		}
		all = append(all, b)
	}
	slices.SortFunc(all, func(a, b bucket) int {
		return cmp.Or(cmp.Compare(a.Mask, b.Mask), cmp.Compare(a.ID, b.ID))
	})
	g := &Grid{}
	for _, b := range all {
		g.Buckets = append(g.Buckets, b.String())
		g.Owners = append(g.Owners, b.owners)
	}
	return g
}
