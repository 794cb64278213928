package cells

const (
	lrhPoints = 256 // of each node
	// defaultCandidates is how many nodes are candidates for a key unless told otherwise.
	defaultCandidates = 8
)

// LocalRendezvous is local rendezvous hashing: the first nodes on a circle of points are the
// candidates for a key, and rendezvous hashing among them decides. arXiv:2512.23434, 2025. Weights
// count among the candidates.
//
// With no more nodes than candidates it is [Rendezvous]. With more, a choice takes the same time
// however many there are, and a change of members also moves some keys between other nodes: a
// candidate that comes in for one that left may win against those that stayed.
func LocalRendezvous(candidates int) Algorithm {
	return func(nodes []Node) (Chooser, error) {
		counts := make([]int, len(nodes))
		for i := range counts {
			counts[i] = lrhPoints
		}
		return &localRendezvous{nodes: nodes, points: newCircle(nodes, counts), candidates: candidates}, nil
	}
}

type localRendezvous struct {
	nodes      []Node
	points     *circle
	candidates int
	ranks      []rank
}

// Choose implements [Chooser].
func (l *localRendezvous) Choose(hash uint64, n int, chosen []int) []int {
	l.ranks = l.ranks[:0]
	l.points.distinct(hash, func(p point) bool {
		l.ranks = append(l.ranks, rankOf(l.nodes, p.node, hash))
		return len(l.ranks) < max(n, l.candidates)
	})
	return best(l.ranks, n, chosen)
}
