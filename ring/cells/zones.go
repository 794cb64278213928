package cells

import (
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// zoned moves backups to other zones where an algorithm has chosen several nodes of one.
type zoned struct {
	nodes []Node
	zone  []int // of each node
	kept  []int
}

// newZoned returns nil if no two members are in one zone.
func newZoned(members []ring.Member) *zoned {
	zones := ring.ZonesOf(members)
	if zones == nil {
		return nil
	}
	z := &zoned{nodes: nodesOf(members), zone: make([]int, len(members))}
	for i, m := range members {
		z.zone[i] = int(zones.Of(m.ID))
	}
	return z
}

// spread changes the nodes that were chosen for a hash so that no two are in one zone while there are
// others, then no three, and so on. The first node stays, and of the others each whose zone has no copy yet.
// The rest is chosen by [Rendezvous]: so a change of members moves only what it must.
func (z *zoned) spread(hash uint64, chosen []int) {
	z.kept = append(z.kept[:0], chosen[0])
	for most := 1; len(z.kept) < len(chosen); most++ {
		for _, node := range chosen {
			if len(z.kept) < len(chosen) && z.fits(node, most) {
				z.kept = append(z.kept, node)
			}
		}
		for len(z.kept) < len(chosen) {
			best := rank{node: -1}
			for node := range z.nodes {
				if !z.fits(node, most) {
					continue
				}
				if r := rankOf(z.nodes, node, hash); best.node < 0 || r.before(best) {
					best = r
				}
			}
			if best.node < 0 {
				break
			}
			z.kept = append(z.kept, best.node)
		}
	}
	copy(chosen, z.kept)
}

// fits reports whether a node may have a copy beside those that are kept.
func (z *zoned) fits(node, most int) bool {
	if slices.Contains(z.kept, node) {
		return false
	}
	for _, k := range z.kept {
		if z.zone[k] == z.zone[node] {
			most--
		}
	}
	return most > 0
}
