package sim

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// byRendezvous gives a key to the nodes with the highest random weights: D. G. Thaler
// and C. V. Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
// Transactions on Networking 6(1), 1998. A node of weight w scores −w ÷ ln(u), where u
// is the hash of the pair of node and key as a number between 0 and 1: see the
// analysis in draft-ietf-bess-weighted-hrw.
//
// Nodes of one weight are in the order of their hashes, so that scores are needed only
// between nodes of different weights. From step to step a key keeps its owners, and
// only what may have changed is computed: the nodes that came or gained weight
// challenge them, and all nodes are asked again where an owner has left or lost weight.
type byRendezvous struct {
	script *script
	copies int // the most that there are in any scene

	hashes []uint64  // of nodes, by place; odd, see pairHash
	owners []int32   // of keys, copies for each; -1 where there are fewer
	weight []float64 // by place, 0 if it is no member

	members     []class
	challengers []class
	// asks tells by place whether keys must ask all nodes again since this owner is
	// not what it was; rises, whether it has gained weight.
	asks, rises []bool
	askAll      bool
	keep        int // copies in this scene
}

// A class is the nodes of one weight.
type class struct {
	weight float64
	places []int32
	hashes []uint64
}

// A rank is a node as one key sees it.
type rank struct {
	place  int32
	hash   uint64
	weight float64
}

func newRendezvous(s *script, backups, keys int) *byRendezvous {
	most := 0
	for i := range s.scenes {
		most = max(most, min(backups+1, len(s.scenes[i].members)))
	}
	r := &byRendezvous{
		script: s,
		copies: most,
		hashes: make([]uint64, len(s.nodes)),
		owners: make([]int32, keys*most),
		weight: make([]float64, len(s.nodes)),
	}
	for i, id := range s.nodes {
		r.hashes[i] = wideHash([]byte(id)) | 1
	}
	return r
}

func (r *byRendezvous) turn(scene int) {
	now := &r.script.scenes[scene]
	weight := make([]float64, len(r.hashes))
	for i, m := range now.members {
		weight[now.places[i]] = m.Weight
	}
	r.asks, r.rises = make([]bool, len(weight)), make([]bool, len(weight))
	var challengers []int32
	for place, w := range weight {
		switch before := r.weight[place]; {
		case w < before:
			r.asks[place] = true
		case w > before:
			r.rises[place] = before > 0
			challengers = append(challengers, int32(place))
		}
	}
	r.weight = weight
	r.members, r.challengers = r.classes(now.places), r.classes(challengers)
	keep := min(r.copies, len(now.members))
	r.askAll = keep != r.keep
	r.keep = keep
}

// classes are nodes by weight, the largest class first, since what it finds keeps the
// others short.
func (r *byRendezvous) classes(places []int32) []class {
	byWeight := make(map[float64]int)
	var classes []class
	for _, place := range places {
		w := r.weight[place]
		i, known := byWeight[w]
		if !known {
			i = len(classes)
			byWeight[w] = i
			classes = append(classes, class{weight: w})
		}
		classes[i].places = append(classes[i].places, place)
		classes[i].hashes = append(classes[i].hashes, r.hashes[place])
	}
	slices.SortFunc(classes, func(a, b class) int {
		return cmp.Or(cmp.Compare(len(b.places), len(a.places)), cmp.Compare(b.weight, a.weight))
	})
	return classes
}

func (r *byRendezvous) start(i int, hash uint64, s *seat) {
	s.ranking = s.ranking[:0]
	for c := range r.members {
		s.ranking = r.members[c].challenge(s.ranking, r.keep, hash)
	}
	s.after = s.after[:0]
	for _, rank := range s.ranking {
		s.after = append(s.after, rank.place)
	}
	r.store(i, s.after)
}

func (r *byRendezvous) move(i int, hash uint64, s *seat) bool {
	owners := r.load(i)
	askAll, rises := r.askAll, false
	for _, place := range owners {
		askAll = askAll || r.asks[place]
		rises = rises || r.rises[place]
	}
	if !askAll && !rises && !r.isChallenged(owners[len(owners)-1], hash) {
		return false
	}
	s.before = append(s.before[:0], owners...)
	if askAll {
		r.start(i, hash, s)
		return !equalOwners(s.before, s.after)
	}
	// Those that gained weight stand among the challengers.
	s.ranking = s.ranking[:0]
	for _, place := range owners {
		if !r.rises[place] {
			s.ranking = append(s.ranking, rank{place, pairHash(hash, r.hashes[place]), r.weight[place]})
		}
	}
	for c := range r.challengers {
		s.ranking = r.challengers[c].challenge(s.ranking, r.keep, hash)
	}
	s.after = s.after[:0]
	for _, rank := range s.ranking {
		s.after = append(s.after, rank.place)
	}
	r.store(i, s.after)
	return !equalOwners(s.before, s.after)
}

// isChallenged tells whether a challenger may be above a key's last owner.
func (r *byRendezvous) isChallenged(last int32, hash uint64) bool {
	lowest := rank{last, pairHash(hash, r.hashes[last]), r.weight[last]}
	for c := range r.challengers {
		class := &r.challengers[c]
		if class.next(0, lowest.floor(class.weight), hash) < len(class.hashes) {
			return true
		}
	}
	return false
}

func (r *byRendezvous) load(i int) []int32 {
	owners := r.owners[i*r.copies : (i+1)*r.copies]
	for n, place := range owners {
		if place < 0 {
			return owners[:n]
		}
	}
	return owners
}

func (r *byRendezvous) store(i int, places []int32) {
	owners := r.owners[i*r.copies : (i+1)*r.copies]
	for n := copy(owners, places); n < len(owners); n++ {
		owners[n] = -1
	}
}

// challenge puts the nodes of the class that belong there into the ranking, which has
// at most keep places, the highest first.
func (c *class) challenge(ranking []rank, keep int, key uint64) []rank {
	for i := 0; i < len(c.hashes); i++ {
		if len(ranking) == keep {
			i = c.next(i, ranking[keep-1].floor(c.weight), key)
			if i == len(c.hashes) {
				break
			}
		}
		ranking = insert(ranking, keep, rank{c.places[i], pairHash(key, c.hashes[i]), c.weight})
	}
	return ranking
}

// next is the first node from i on whose hash with the key is at least floor, or how
// many there are. This loop is where a simulation of many nodes spends its time.
func (c *class) next(i int, floor, key uint64) int {
	hashes := c.hashes
	for ; i < len(hashes); i++ {
		if high, low := bits.Mul64(key, hashes[i]); high^low >= floor {
			break
		}
	}
	return i
}

func insert(ranking []rank, keep int, r rank) []rank {
	at := len(ranking)
	for at > 0 && r.above(ranking[at-1]) {
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
func (r rank) above(o rank) bool {
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

func (r rank) score() float64 {
	const kept = 52 // with the half a float64 is full, so that u is never 1
	u := (float64(r.hash>>(64-kept)) + 0.5) / (1 << kept)
	return -r.weight / math.Log(u)
}

// floor is a hash below which no node of a weight is above r.
//
// Its score would have to be at least s: ln(u) ≥ −weight ÷ s, so
// 1 − u ≤ 1 − exp(−weight ÷ s) ≤ weight ÷ s.
func (r rank) floor(weight float64) uint64 {
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

func (r *byRendezvous) first(hash uint64) int32 {
	var room [1]rank
	ranking := room[:0]
	for c := range r.members {
		ranking = r.members[c].challenge(ranking, 1, hash)
	}
	return ranking[0].place
}

func (r *byRendezvous) bytes() int {
	const hashAndWeight = 16
	now := 0
	var places []int32
	for _, c := range r.members {
		now += len(c.places)
		places = append(places, c.places...)
	}
	return listBytes(r.script, places) + now*hashAndWeight
}
