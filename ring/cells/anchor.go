package cells

import (
	"fmt"

	"github.com/ringside-kv/ringside/ring"
)

// anchorCapacity is the least number of buckets. With more seats it doubles, and then most cells move.
const anchorCapacity = 1 << 14

// Anchor is AnchorHash: G. Mendelson, S. Vargaftik, K. Barabash, D. Lorenz, I. Keslassy, A. Orda,
// "AnchorHash: a scalable consistent hash", IEEE/ACM Transactions on Networking 29(2), 2021
// (arXiv:1812.09674). Buckets are seats.
//
// A change of members moves only what it must, and shares are even. Bounds the number of nodes by its
// capacity.
func Anchor(nodes []Node, seats Seats) (Chooser, error) {
	capacity := anchorCapacity
	for capacity < len(seats.Nodes) {
		capacity *= 2
	}
	if capacity > ring.MaxPoints {
		return nil, fmt.Errorf("%w: %d seats", ring.ErrPoints, len(seats.Nodes))
	}
	a := &anchor{seats: seats.Nodes, nodes: len(nodes), size: make([]int32, capacity), next: make([]int32, capacity)}
	// place[b] is where the working bucket b stands among them, and working[i] the bucket at i. The
	// buckets that no node has had were removed first, the last one first.
	working, place := make([]int32, capacity), make([]int32, capacity)
	for b := range int32(capacity) {
		a.next[b], working[b], place[b] = b, b, b
		if int(b) >= len(seats.Nodes) {
			a.size[b] = b
		}
	}
	left := int32(len(seats.Nodes))
	for _, b := range seats.Free {
		left--
		a.size[b] = left
		moved := working[left]
		working[place[b]], place[moved] = moved, place[b]
		a.next[b] = moved
	}
	return a, nil
}

type anchor struct {
	seats []int // index of the node by bucket
	nodes int
	// size is 0 for a working bucket, and for another one how many worked once it was removed. next is
	// the bucket that took its place.
	size, next []int32
}

// Choose implements [Chooser].
func (a *anchor) Choose(hash uint64, n int, chosen []int) []int {
	return chooseBuckets(a.bucket, a.seats, a.nodes, hash, n, chosen)
}

// bucket is the working bucket of a hash.
func (a *anchor) bucket(hash uint64) int {
	b := int32(hash % uint64(len(a.size)))
	for a.size[b] > 0 {
		h := int32(pair(uint64(b), hash) % uint64(a.size[b]))
		for a.size[h] >= a.size[b] {
			h = a.next[h]
		}
		b = h
	}
	return int(b)
}
