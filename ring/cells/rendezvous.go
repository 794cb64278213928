package cells

// Rendezvous is highest random weight hashing: each node scores each key, and the highest scores
// keep it. D. G. Thaler, C. V. Ravishankar, "Using name-based mappings to increase hit rates",
// IEEE/ACM Transactions on Networking 6(1), 1998. A node of weight w scores -w÷ln(u) of a hash u
// between 0 and 1: C. Schindelhauer, G. Schomaker, "Weighted distributed hash tables", SPAA 2005.
//
// A change of members moves only what it must. A choice takes time in proportion to the nodes.
func Rendezvous(nodes []Node) (Chooser, error) { return &rendezvous{nodes: nodes}, nil }

type rendezvous struct {
	nodes []Node
	ranks []rank
}

type rank struct {
	node  int
	score float64 // the smallest wins
}

// Choose implements [Chooser].
func (r *rendezvous) Choose(hash uint64, n int, chosen []int) []int {
	r.ranks = r.ranks[:0]
	for i := range r.nodes {
		r.ranks = append(r.ranks, rankOf(r.nodes, i, hash))
	}
	return best(r.ranks, n, chosen)
}

// rankOf scores a node for a hash: the logarithm divided by the weight, so that the smallest wins.
func rankOf(nodes []Node, i int, hash uint64) rank {
	return rank{i, float64(negLog2(pair(nodes[i].Hash, hash))) / nodes[i].Weight}
}

// best appends the n best nodes, the best first. It changes ranks.
func best(ranks []rank, n int, chosen []int) []int {
	for i, r := range ranks {
		at := min(i, n) // ranks[:at] are the best so far, in order
		if at == n {
			if !r.before(ranks[n-1]) {
				continue
			}
			at--
		}
		for at > 0 && r.before(ranks[at-1]) {
			ranks[at] = ranks[at-1]
			at--
		}
		ranks[at] = r
	}
	for _, r := range ranks[:n] {
		chosen = append(chosen, r.node)
	}
	return chosen
}

func (r rank) before(o rank) bool { return r.score < o.score || r.score == o.score && r.node < o.node }
