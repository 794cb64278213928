package cells

import (
	"cmp"
	"slices"
)

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

// best appends the n best nodes. It changes the order of ranks.
func best(ranks []rank, n int, chosen []int) []int {
	less := func(a, b rank) int { return cmp.Or(cmp.Compare(a.score, b.score), cmp.Compare(a.node, b.node)) }
	if n == 1 {
		return append(chosen, slices.MinFunc(ranks, less).node)
	}
	slices.SortFunc(ranks, less)
	for _, r := range ranks[:n] {
		chosen = append(chosen, r.node)
	}
	return chosen
}
