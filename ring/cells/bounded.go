package cells

import "math"

// defaultSlack is how much above its share a node may be unless told otherwise.
const defaultSlack = 0.1

// boundedPoints is how many points a node of weight 1 has: as many as in libketama.
const boundedPoints = 160

// Bounded is consistent hashing with bounded loads: a node that has its share of the cells, and slack
// above it, passes further ones on to the next node on the circle. V. Mirrokni, M. Thorup,
// M. Zadimoghaddam, "Consistent hashing with bounded loads", SODA 2018 (arXiv:1608.01350).
//
// The bound is on the primary's cells, not on backups. A change of members also moves cells between
// other nodes, since those that one passes on fill the next.
func Bounded(slack float64) Algorithm {
	return func(nodes []Node) (Chooser, error) {
		counts, err := places(nodes, boundedPoints)
		if err != nil {
			return nil, err
		}
		b := &bounded{points: newCircle(nodes, counts), room: make([]int, len(nodes))}
		sum := 0.0
		for _, n := range nodes {
			sum += n.Weight
		}
		for i, n := range nodes {
			b.room[i] = int(math.Ceil((1 + slack) * Cells * (n.Weight / sum)))
		}
		return b, nil
	}
}

type bounded struct {
	points *circle
	room   []int // cells that each node still takes
}

// Choose implements [Chooser]. Its answer depends on the cells before.
func (b *bounded) Choose(hash uint64, n int, chosen []int) []int {
	from := len(chosen)
	var passed []int // nodes without room: they come behind the first one that has some
	b.points.distinct(hash, func(p point) bool {
		switch {
		case len(chosen) > from:
			chosen = append(chosen, p.node)
		case b.room[p.node] > 0:
			b.room[p.node]--
			chosen = append(chosen, p.node)
			chosen = append(chosen, passed...)
		default:
			passed = append(passed, p.node)
		}
		return len(chosen)-from < n
	})
	return chosen[:from+n]
}
