package sim

import "math"

// A rank is a node as one key sees it.
type rank struct {
	place  int32
	hash   uint64
	weight float64
	scored float64 // 0 until it is asked for, since a logarithm takes its time
}

// insert puts a node where it belongs in a ranking, the highest first, of which no more
// than keep are kept.
func insert(ranking []rank, keep int, r rank) []rank {
	at := len(ranking)
	for at > 0 && r.above(&ranking[at-1]) {
		at--
	}
	if at == keep {
		return ranking
	}
	if len(ranking) < keep {
		ranking = append(ranking, rank{})
	}
	copy(ranking[at+1:], ranking[at:])
	ranking[at] = r
	return ranking
}

// above is the order of nodes: by score, then by hash, then by place.
func (r *rank) above(o *rank) bool {
	if r.weight != o.weight {
		if a, b := r.score(), o.score(); a != b {
			return a > b
		}
	}
	if r.hash != o.hash {
		return r.hash > o.hash
	}
	return r.place < o.place
}

func (r *rank) score() float64 {
	if r.scored == 0 {
		const kept = 52 // with the half a float64 is full, so that u is never 1
		u := (float64(r.hash>>(64-kept)) + 0.5) / (1 << kept)
		r.scored = -r.weight / math.Log(u)
	}
	return r.scored
}

// floor is a hash below which no node of a weight is above r.
//
// Its score would have to be at least s: ln(u) ≥ −weight ÷ s, so
// 1 − u ≤ 1 − exp(−weight ÷ s) ≤ weight ÷ s.
func (r *rank) floor(weight float64) uint64 {
	if weight == r.weight {
		return r.hash
	}
	const slack = 1e-9 // far above what is lost to rounding
	below := weight/r.score()*(1+slack) + slack
	if !(below < 0.999) {
		return 0
	}
	return uint64((1 - below) * (1 << 64))
}
