package sim

import (
	"cmp"
	"math"
	"slices"
)

// byRendezvous gives a key to the nodes with the highest random weights: D. G. Thaler
// and C. V. Ravishankar, "Using name-based mappings to increase hit rates", IEEE/ACM
// Transactions on Networking 6(1), 1998. A node of weight w scores −w ÷ ln(u), where u
// is the hash of the pair of node and key as a number between 0 and 1: see the
// analysis in draft-ietf-bess-weighted-hrw.
//
// Nodes of one weight are in the order of their hashes, so that scores are needed only
// between nodes of different weights, and only by those whose hash is high enough. From step to step a key keeps its owners, and
// only what may have changed is computed: the nodes that came or gained weight
// challenge them, and all nodes are asked again where an owner has left or lost weight.
type byRendezvous struct {
	script *script
	pairs  *pairs
	copies int       // the most that there are in any scene
	owners []int32   // of keys, copies for each; -1 where there are fewer
	weight []float64 // by place, 0 if it is no member

	members     []class
	challengers []class
	// asks tells by place whether keys must ask all nodes again since this owner is
	// not what it was; rises, whether it has gained weight.
	asks, rises []bool
	askAll      bool
	keep        int     // copies in this scene
	now         []int32 // places of the members
}

func newRendezvous(s *script, backups, keys int) *byRendezvous {
	most := 0
	for i := range s.scenes {
		most = max(most, min(backups+1, len(s.scenes[i].members)))
	}
	return &byRendezvous{
		script: s,
		pairs:  newPairs(s.nodes),
		copies: most,
		owners: make([]int32, keys*most),
		weight: make([]float64, len(s.nodes)),
	}
}

func (r *byRendezvous) turn(scene int) {
	now := &r.script.scenes[scene]
	weight := make([]float64, len(r.weight))
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
	r.weight, r.now = weight, now.places
	r.members, r.challengers = r.classes(now.places), r.classes(challengers)
	keep := min(r.copies, len(now.members))
	r.askAll = keep != r.keep
	r.keep = keep
}

// classes are nodes by the binary exponent of their weights, the largest class first,
// since what it finds keeps the others short.
func (r *byRendezvous) classes(places []int32) []class {
	ofExponent := make(map[int][]int32)
	for _, place := range places {
		_, exponent := math.Frexp(r.weight[place])
		ofExponent[exponent] = append(ofExponent[exponent], place)
	}
	classes := make([]class, 0, len(ofExponent))
	for _, places := range ofExponent {
		classes = append(classes, newClass(r.pairs, r.weight, places, r.copies))
	}
	slices.SortFunc(classes, func(a, b class) int {
		return cmp.Or(cmp.Compare(b.nodes, a.nodes), cmp.Compare(b.weight, a.weight))
	})
	return classes
}

func (r *byRendezvous) start(i int, hash uint64, s *seat) {
	s.ranking = r.ranking(s.ranking, r.keep, hash)
	r.settle(i, s)
}

// settle makes the ranking the owners of a key.
func (r *byRendezvous) settle(i int, s *seat) {
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
			s.ranking = append(s.ranking, r.rank(place, hash))
		}
	}
	for c := range r.challengers {
		s.ranking = r.challengers[c].challenge(s.ranking, r.keep, hash)
	}
	r.settle(i, s)
	return !equalOwners(s.before, s.after)
}

// isChallenged reports whether a challenger may be above a key's last owner.
func (r *byRendezvous) isChallenged(last int32, hash uint64) bool {
	lowest := r.rank(last, hash)
	for c := range r.challengers {
		class := &r.challengers[c]
		if _, lanes, _ := class.next(0, lowest.floor(class.weight), hash); lanes != 0 {
			return true
		}
	}
	return false
}

func (r *byRendezvous) rank(place int32, key uint64) rank {
	return rank{place: place, hash: r.pairs.hash(key, place), weight: r.weight[place]}
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

// ranking asks all members.
func (r *byRendezvous) ranking(room []rank, keep int, hash uint64) []rank {
	room = r.members[0].rank(room, keep, hash)
	for c := range r.members[1:] {
		room = r.members[1+c].challenge(room, keep, hash)
	}
	return room
}

func (r *byRendezvous) first(hash uint64) int32 {
	var room [1]rank
	return r.ranking(room[:0], 1, hash)[0].place
}

func (r *byRendezvous) bytes() int {
	const hashAndWeight = 16
	return listBytes(r.script, r.now) + len(r.now)*hashAndWeight
}
