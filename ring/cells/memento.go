package cells

// Memento is MementoHash: M. Coluzzi, A. Brocco, A. Antonucci, T. Leidi, "MementoHash: a stateful,
// minimal memory, best performing consistent hash algorithm", IEEE/ACM Transactions on Networking,
// 2024 (arXiv:2306.09783). Buckets are seats.
//
// It is jump consistent hash that remembers which buckets were removed. A change of members moves only
// what it must, and shares are even.
func Memento(nodes []Node, seats Seats) (Chooser, error) {
	m := &memento{seats: seats.Nodes, nodes: len(nodes), left: make(map[int]int, len(seats.Free))}
	working := len(seats.Nodes)
	for _, b := range seats.Free {
		working--
		m.left[b] = working
	}
	return m, nil
}

type memento struct {
	seats []int // index of the node by bucket
	nodes int
	// left is, for each removed bucket, how many worked once it was removed. The bucket with that
	// number took its place.
	left map[int]int
}

// Choose implements [Chooser].
func (m *memento) Choose(hash uint64, n int, chosen []int) []int {
	return chooseBuckets(m.bucket, m.seats, m.nodes, hash, n, chosen)
}

// bucket is the working bucket of a hash.
func (m *memento) bucket(hash uint64) int {
	b := jumpTo(hash, len(m.seats))
	for {
		left, removed := m.left[b]
		if !removed {
			return b
		}
		d := int(pair(uint64(b), hash) % uint64(left))
		for {
			took, removed := m.left[d]
			if !removed || took < left {
				break
			}
			d = took
		}
		b = d
	}
}
