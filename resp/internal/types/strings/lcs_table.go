package strings

import (
	"errors"
	"math/bits"
	"unsafe"
)

// errLCSMemory is what LCS answers when the two values are too long for it.
var errLCSMemory = errors.New("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len")

// A lcsRange is a run of consecutive bytes that the longest common subsequence
// has from both values: a[aFrom : aTo+1] and b[bFrom : bTo+1] are equal. The ends
// are inclusive, as in the reply.
type lcsRange struct {
	aFrom, aTo int
	bFrom, bTo int
}

// length is the number of bytes in the run.
func (r lcsRange) length() int { return r.aTo - r.aFrom + 1 }

// lcs returns a longest common subsequence of a and b and the runs that it
// consists of, from the last to the first: of several that are as long, the one
// that Redis answers. The caller drops the runs that are too short for
// MINMATCHLEN.
//
// Redis has a table of four bytes for each pair of positions, and refuses when
// it would be larger than proto-max-bulk-len. So does this function, for limit
// bytes, which bounds the time as well; but it keeps two rows of the table, as long
// as the shorter value, and of the others only which way each cell leads back, one
// bit, so it takes a 32nd of the memory: see lcsMemory.
func lcs(a, b []byte, limit int64) ([]byte, []lcsRange, error) {
	if !lcsFits(len(a), len(b), limit) {
		return nil, nil, errLCSMemory
	}
	swapped := len(b) > len(a)
	if swapped {
		a, b = b, a
	}
	length, up := lcsTable(a, b, swapped)

	// The way back from the end meets the bytes of the result in reverse.
	seq := make([]byte, length)
	var ranges []lcsRange
	open := false // the last of ranges goes on at (i, j)
	for i, j := len(a), len(b); i > 0 && j > 0; {
		switch {
		case a[i-1] == b[j-1]:
			i--
			j--
			length--
			seq[length] = a[i]
			if !open {
				ranges = append(ranges, lcsRange{aTo: i, bTo: j})
				open = true
			}
			r := &ranges[len(ranges)-1]
			r.aFrom, r.bFrom = i, j
		case up.get((i-1)*len(b) + j - 1):
			i--
			open = false
		default:
			j--
			open = false
		}
	}
	if swapped {
		for i, r := range ranges {
			ranges[i] = lcsRange{aFrom: r.bFrom, aTo: r.bTo, bFrom: r.aFrom, bTo: r.aTo}
		}
	}
	return seq, ranges, nil
}

// lcsMemory is the most bytes that LCS takes for values of these lengths, neither of them
// empty: the values, two rows, a bit for each pair of positions, the sequence and its runs,
// of which a list that grows holds three times the bytes at the moment when it moves.
func lcsMemory(a, b int64) int64 {
	short := min(a, b)
	return a + b + 2*4*(short+1) + (a*b+63)/64*8 + short + 3*short*int64(unsafe.Sizeof(lcsRange{}))
}

// lcsLen returns the length of a longest common subsequence of a and b, within
// the same limit as lcs and in memory for two rows.
func lcsLen(a, b []byte, limit int64) (int, error) {
	if !lcsFits(len(a), len(b), limit) {
		return 0, errLCSMemory
	}
	if len(b) > len(a) {
		a, b = b, a // the length is the same, the rows are shorter
	}
	prev, row := make([]uint32, len(b)+1), make([]uint32, len(b)+1)
	for _, c := range a {
		lcsRow(prev, row, c, b, nil, 0, false)
		prev, row = row, prev
	}
	return int(prev[len(b)]), nil
}

// lcsFits reports whether Redis' table for values of these lengths has at most
// limit bytes.
func lcsFits(a, b int, limit int64) bool {
	hi, cells := bits.Mul64(uint64(a)+1, uint64(b)+1)
	return limit >= 0 && hi == 0 && cells <= uint64(limit)/4
}

// lcsTable returns the length, and for each pair of positions whether the way back
// leads up, to one byte less of a, rather than to one byte less of b. Of two ways that
// are as good it takes the one to one byte less of b, as Redis does, unless swapped.
func lcsTable(a, b []byte, swapped bool) (length int, up lcsWays) {
	up = make(lcsWays, (len(a)*len(b)+63)/64)
	prev, row := make([]uint32, len(b)+1), make([]uint32, len(b)+1)
	for i, c := range a {
		lcsRow(prev, row, c, b, up, i*len(b), swapped)
		prev, row = row, prev
	}
	return int(prev[len(b)]), up
}

// lcsRow computes the row for byte c of a from the one before: row[j+1] is the
// length for everything up to c and b[:j+1]. It notes the ways up from bit base on,
// unless up is nil. Of two ways that are as good, it takes the way up only if upFirst.
func lcsRow(prev, row []uint32, c byte, b []byte, up lcsWays, base int, upFirst bool) {
	left, ahead := uint32(0), uint32(0)
	if upFirst {
		ahead = 1
	}
	prev, row = prev[:len(b)+1], row[:len(b)+1]
	for j, d := range b {
		above := prev[j+1]
		switch {
		case c == d:
			left = prev[j] + 1
		case above+ahead > left:
			left = above
			if up != nil {
				up.set(base + j)
			}
		}
		row[j+1] = left
	}
}

// lcsWays has a bit for each pair of positions, row by row.
type lcsWays []uint64

func (s lcsWays) set(i int)      { s[i/64] |= 1 << (i % 64) }
func (s lcsWays) get(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }
