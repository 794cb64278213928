package sim

import (
	"math"
	"math/bits"
)

// pairs are the hashes of keys with nodes. A thousand nodes and ten million keys are ten
// billion pairs, nearly all of which need no more than their leading bits looked at: so
// the nodes are in groups of eight, and one hash of the key with the group is the leading
// 8 bits of each of them. What follows is a hash of the node's own.
type pairs struct {
	groups, nodes []uint64 // all odd: see fold
}

const (
	groupNodes = 8
	laneBits   = 64 / groupNodes
)

func newPairs(ids []string) *pairs {
	p := &pairs{nodes: make([]uint64, len(ids))}
	for i, id := range ids {
		p.nodes[i] = wideHash([]byte(id)) | 1
		if i%groupNodes == 0 {
			p.groups = append(p.groups, mix(p.nodes[i])|1)
		}
	}
	return p
}

func (p *pairs) hash(key uint64, place int32) uint64 {
	return p.within(key, fold(key, p.groups[place/groupNodes]), place)
}

// within is hash for a group whose hash with the key is there.
func (p *pairs) within(key, group uint64, place int32) uint64 {
	lead := group >> (place % groupNodes * laneBits) << (64 - laneBits)
	return lead | fold(key, p.nodes[place])>>laneBits
}

// fold hashes two numbers, the second of them odd: the wide product folded, as in
// wyhash, https://github.com/wangyi-fudan/wyhash.
func fold(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	return high ^ low
}

// A class is the nodes of one weight.
type class struct {
	pairs  *pairs
	weight float64
	nodes  int
	// Of each group with nodes of the class: its hash, the highest bit of each such
	// node's lane, and the place of the first node that it could have.
	hashes, lanes []uint64
	first         []int32
	// guess is a floor that is nearly always below as many nodes as a key has copies,
	// and above most others.
	guess uint64
}

// newClass makes a class of the nodes at places, for keys with so many copies.
func newClass(p *pairs, weight float64, places []int32, copies int) class {
	c := class{pairs: p, weight: weight, nodes: len(places)}
	lanes := make([]uint64, len(p.groups))
	for _, place := range places {
		lanes[place/groupNodes] |= 1 << (place%groupNodes*laneBits + laneBits - 1)
	}
	for i, l := range lanes {
		if l != 0 {
			c.hashes, c.lanes = append(c.hashes, p.groups[i]), append(c.lanes, l)
			c.first = append(c.first, int32(i*groupNodes))
		}
	}
	// How many are above the guess is about Poisson distributed, with this mean.
	above := float64(copies) + 2*math.Sqrt(float64(copies)) + 2
	if part := above / float64(len(places)); part < 0.5 {
		c.guess = uint64((1 - part) * (1 << 64))
	}
	return c
}

// rank is the ranking of the class alone.
func (c *class) rank(ranking []rank, keep int, key uint64) []rank {
	if c.guess > 0 {
		if ranking = c.challengeFrom(ranking[:0], keep, key, c.guess); len(ranking) == keep {
			return ranking
		}
	}
	return c.challengeFrom(ranking[:0], keep, key, 0)
}

// challenge puts the nodes of the class that belong there into the ranking, which has
// at most keep places.
func (c *class) challenge(ranking []rank, keep int, key uint64) []rank {
	floor := uint64(0)
	if len(ranking) == keep {
		floor = ranking[keep-1].floor(c.weight)
	}
	return c.challengeFrom(ranking, keep, key, floor)
}

// challengeFrom leaves out the nodes whose hash is below the floor.
func (c *class) challengeFrom(ranking []rank, keep int, key, floor uint64) []rank {
	for i := 0; ; i++ {
		var lanes, hash uint64
		if i, lanes, hash = c.next(i, floor, key); lanes == 0 {
			return ranking
		}
		for ; lanes != 0; lanes &= lanes - 1 {
			place := c.first[i] + int32(bits.TrailingZeros64(lanes)/laneBits)
			r := rank{place: place, hash: c.pairs.within(key, hash, place), weight: c.weight}
			if r.hash < floor {
				continue
			}
			if ranking = insert(ranking, keep, r); len(ranking) == keep {
				floor = max(floor, ranking[keep-1].floor(c.weight))
			}
		}
	}
}

// next is the first group from i on in which the hash of a node with the key may be the
// floor or above, the lanes of such nodes, none if there is no group, and the group's
// hash.
//
// All lanes are compared at once: where the highest bit of the floor is set, a lane is
// not below it if its own highest bit is set and its other bits carry into that when what
// the floor lacks to the next power of two is added. This loop is where a simulation of
// many nodes spends its time.
func (c *class) next(i int, floor, key uint64) (at int, lanes, hash uint64) {
	const (
		ones = 1<<56 | 1<<48 | 1<<40 | 1<<32 | 1<<24 | 1<<16 | 1<<8 | 1
		low  = 0x7f * ones
	)
	if floor>>63 == 0 {
		if i == len(c.hashes) {
			return i, 0, 0
		}
		return i, c.lanes[i], fold(key, c.hashes[i])
	}
	lack := (0x80 - floor>>(64-laneBits)&0x7f) * ones
	hashes := c.hashes[i:]
	masks := c.lanes[i:][:len(hashes)]
	for j, h := range hashes {
		hash := fold(key, h)
		if lanes := (hash&low + lack) & hash & masks[j]; lanes != 0 {
			return i + j, lanes, hash
		}
	}
	return len(c.hashes), 0, 0
}
