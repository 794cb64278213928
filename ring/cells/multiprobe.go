package cells

import (
	"math"
	"slices"
)

// defaultProbes is how often a key is hashed unless told otherwise: with 21 probes the largest share
// is about 1.05 times the mean.
const defaultProbes = 21

// probePoints is how many points a node of weight 1 has.
const probePoints = 4

// MultiProbe is multi-probe consistent hashing: nodes have few points, a key is hashed several times,
// and the node whose point follows one of these hashes most closely keeps it. B. Appleton,
// M. O'Reilly, "Multi-probe consistent hashing", arXiv:1505.00062, 2015.
//
// A change of members moves only what it must, since each node's distance to a key depends on
// nothing but the two. More points than one for a node are for weights.
func MultiProbe(probes int) Algorithm {
	return func(nodes []Node) (Chooser, error) {
		counts, err := places(nodes, probePoints)
		if err != nil {
			return nil, err
		}
		nearest := slices.Repeat([]uint64{math.MaxUint64}, len(nodes))
		return &multiProbe{probes: probes, points: newCircle(nodes, counts), nearest: nearest}, nil
	}
}

type multiProbe struct {
	probes  int
	points  *circle
	nearest []uint64 // for each node, scratch of Choose
	met     []int    // likewise: the nodes whose nearest is set
}

// Choose implements [Chooser]: nodes in the order of their distances, each the least over all probes.
func (m *multiProbe) Choose(hash uint64, n int, chosen []int) []int {
	met := m.met[:0]
	for k := range m.probes {
		probe := mix(hash + uint64(k))
		left := n // a node behind the first n of each probe is behind n nodes altogether
		m.points.distinct(probe, func(p point) bool {
			if m.nearest[p.node] == math.MaxUint64 {
				met = append(met, p.node)
			}
			m.nearest[p.node] = min(m.nearest[p.node], p.at-probe, math.MaxUint64-1)
			left--
			return left > 0
		})
	}
	m.met = met
	for range n {
		nearest := -1
		for i, node := range met {
			if node >= 0 && (nearest < 0 || m.nearest[node] < m.nearest[met[nearest]] ||
				m.nearest[node] == m.nearest[met[nearest]] && node < met[nearest]) {
				nearest = i
			}
		}
		chosen = append(chosen, met[nearest])
		m.nearest[met[nearest]] = math.MaxUint64
		met[nearest] = -1
	}
	for _, node := range met {
		if node >= 0 {
			m.nearest[node] = math.MaxUint64
		}
	}
	return chosen
}
