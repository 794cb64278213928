package cells

import (
	"math"
	"math/bits"
	"slices"

	"github.com/ringside-kv/ringside/ring"
)

// mix is the finalizer of SplitMix64: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable
// pseudorandom number generators", OOPSLA 2014. It is a permutation of 64-bit numbers.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// pair is the hash of a node and a key together.
func pair(node, key uint64) uint64 { return mix(node ^ mix(key)) }

// logBits is how many binary digits behind the point a logarithm has. The last three may be wrong.
const logBits = 32

// logTable holds, for each of 256 steps from 1 to 2, its binary logarithm, in units of 2^-32, and its
// inverse, in units of 2^-63.
var logTable = makeLogTable()

type logStep struct{ log, inverse uint64 }

func makeLogTable() (table [256]logStep) {
	for i := range table {
		x := uint64(256+i) << 55 // from 1 to 2, in units of 2^-63
		table[i].inverse = 1 << 63 / uint64(256+i) * 256
		for range logBits { // the square of a number has twice its logarithm
			hi, lo := bits.Mul64(x, x)
			table[i].log <<= 1
			if hi>>63 == 1 {
				table[i].log |= 1
				x = hi
			} else {
				x = hi<<1 | lo>>63
			}
		}
	}
	return table
}

// negLog2 returns -log2((x+1)÷2^64) with logBits digits behind the point, and at least 1. It computes
// with integers alone, so that nodes with different processors agree.
func negLog2(x uint64) uint64 {
	if x == math.MaxUint64 {
		return 1
	}
	x++
	shift := bits.LeadingZeros64(x)
	x <<= shift
	step := &logTable[x>>55&0xff]
	hi, _ := bits.Mul64(x, step.inverse)
	z := hi>>30 - 1<<32 // the rest, from 0 to 2^-8
	if z>>63 == 1 {
		z = 0 // below 0 by the rounding of the inverse
	}
	// log2(1+z) = (z - z²/2 + z³/3) ÷ ln 2
	const inverseLn2 = 6196328018 // in units of 2^-32
	square := z * z >> 32
	rest := (z - square/2 + square*z>>32/3) * inverseLn2 >> 32
	return max(uint64(shift+1)<<logBits-step.log-rest, 1)
}

// places gives each node a number of places for its weight, perWeight for a weight of 1 and at least
// one: for algorithms to which all places are alike. Its error is [ring.ErrPoints].
func places(nodes []Node, perWeight int) ([]int, error) {
	all := make([]int, len(nodes))
	sum := 0.0
	for i, n := range nodes {
		count := max(1, math.Round(n.Weight*float64(perWeight)))
		all[i], sum = int(count), sum+count
	}
	return all, ring.CheckPoints(int(sum))
}

// complete appends nodes that are not chosen yet until there are n: for algorithms that may meet too
// few nodes within their bounds.
func complete(chosen []int, from, n, nodes int, hash uint64) []int {
	for i := int(hash % uint64(nodes)); len(chosen)-from < n; i = (i + 1) % nodes {
		if !slices.Contains(chosen[from:], i) {
			chosen = append(chosen, i)
		}
	}
	return chosen
}
