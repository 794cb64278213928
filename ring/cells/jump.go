package cells

import "slices"

// jumpPlaces is how many buckets a node of weight 1 has.
const jumpPlaces = 16

// Jump is jump consistent hash: J. Lamping, E. Veach, "A fast, minimal memory, consistent hash
// algorithm", arXiv:1406.2294, 2014. Buckets are numbered and belong to the nodes in the order of
// their ids.
//
// A node that joins at the end of that order receives, and moves nothing else. A node that leaves
// from the middle, or a weight that changes there, shifts the numbers behind it, and most keys move:
// this is what the algorithm costs where nodes have names.
func Jump(nodes []Node) (Chooser, error) {
	counts, err := places(nodes, jumpPlaces)
	if err != nil {
		return nil, err
	}
	j := &jump{nodes: len(nodes)}
	for i, n := range counts {
		j.buckets = append(j.buckets, slices.Repeat([]int{i}, n)...)
	}
	return j, nil
}

type jump struct {
	nodes   int
	buckets []int // the node of each
}

// Choose implements [Chooser].
func (j *jump) Choose(hash uint64, n int, chosen []int) []int {
	to := func(hash uint64) int { return jumpTo(hash, len(j.buckets)) }
	return chooseBuckets(to, j.buckets, j.nodes, hash, n, chosen)
}

// bucketTries bounds how often a copy is drawn again because its node has one already.
const bucketTries = 64

// chooseBuckets chooses for algorithms that give a hash one bucket: each copy goes to the bucket of
// another hash. owners are the nodes of the buckets.
func chooseBuckets(bucket func(hash uint64) int, owners []int, nodes int, hash uint64, n int, chosen []int) []int {
	from := len(chosen)
	for try := uint64(0); len(chosen)-from < n && try < bucketTries; try++ {
		node := owners[bucket(mix(hash+try))]
		if !slices.Contains(chosen[from:], node) {
			chosen = append(chosen, node)
		}
	}
	return complete(chosen, from, n, nodes, hash)
}

// jumpTo returns the bucket of a key, from 0 to buckets-1.
func jumpTo(key uint64, buckets int) int {
	at, next := int64(-1), int64(0)
	for next < int64(buckets) {
		at = next
		key = key*2862933555777941757 + 1
		next = int64(float64(at+1) * (float64(1<<31) / float64(key>>33+1)))
	}
	return int(at)
}
