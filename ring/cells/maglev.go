package cells

import (
	"fmt"
	"math/big"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// maglevTable is the least size of the table, a prime; maglevShare is how many entries a node has at
// least, on average, so that shares differ by at most a hundredth. For more nodes the size is doubled,
// since another size moves nearly everything.
const (
	maglevTable = 65537
	maglevShare = 100
)

// Maglev fills a table in turns, each node by its own permutation of the entries: D. E. Eisenbud and
// others, "Maglev: a fast and reliable software network load balancer", NSDI 2016, section 3.4. A
// node of a smaller weight takes fewer turns.
//
// Shares are as even as they can be. A change of members also moves a few keys between other nodes.
func Maglev(nodes []Node) (Chooser, error) {
	size := maglevTable
	for size < maglevShare*len(nodes) {
		size *= 2
	}
	if size > ring.MaxPoints {
		return nil, fmt.Errorf("%w: a table for %d nodes would have %d entries, %d are allowed", ring.ErrPoints, len(nodes), size, ring.MaxPoints)
	}
	for !big.NewInt(int64(size)).ProbablyPrime(0) { // exact below 2^64
		size++
	}
	starts, skips, weights := make([]uint64, len(nodes)), make([]uint64, len(nodes)), make([]float64, len(nodes))
	for i, n := range nodes {
		starts[i] = mix(n.Hash) % uint64(size)
		skips[i] = mix(n.Hash+1)%uint64(size-1) + 1
		weights[i] = n.Weight
	}
	m := &maglev{nodes: len(nodes), table: fillInTurns(size, starts, skips, weights)}
	held := make([]bool, len(nodes))
	for _, i := range m.table {
		if !held[i] {
			held[i] = true
			m.held++
		}
	}
	m.other = nextOther(size, func(i int) int { return int(m.table[i]) })
	return m, nil
}

// fillInTurns returns a table in which each entry is the number of a node. In turns, each node takes the
// next free entry of its permutation: from its start on, by its skip, which has no divisor in common with
// the size.
func fillInTurns(size int, starts, skips []uint64, weights []float64) []int32 {
	table := slices.Repeat([]int32{-1}, size)
	next, credit, most := slices.Clone(starts), make([]float64, len(starts)), slices.Max(weights)
	for filled := 0; filled < size; {
		for i := range next {
			if credit[i] += weights[i] / most; credit[i] < 1 || filled == size {
				continue
			}
			credit[i]--
			for table[next[i]] >= 0 {
				next[i] = (next[i] + skips[i]) % uint64(size)
			}
			table[next[i]] = int32(i)
			filled++
		}
	}
	return table
}

type maglev struct {
	nodes int
	held  int // nodes that have entries
	table []int32
	other []int32 // for each entry, the next one of another node, as in [nextOther]
}

// Choose implements [Chooser]. Backups are the next other nodes in the table.
func (m *maglev) Choose(hash uint64, n int, chosen []int) []int {
	from := len(chosen)
	for at := int32(hash % uint64(len(m.table))); len(chosen)-from < min(n, m.held); at = m.other[at] {
		if node := int(m.table[at]); !slices.Contains(chosen[from:], node) {
			chosen = append(chosen, node)
		}
	}
	return complete(chosen, from, n, m.nodes, hash)
}
