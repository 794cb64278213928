package pending

// An Index finds entries of a list by a hash: a table of their numbers, each plus one, with open
// addressing; 0 is nothing. A map would copy each key.
//
// The functions that are passed report whether the entry of a number is the one that is meant.
type Index []int32

// Emptied returns an index without entries, with room for so many and as many again.
func (x Index) Emptied(n int) Index {
	if 4*n <= len(x) {
		clear(x)
		return x
	}
	size := 128
	for size < 4*n {
		size *= 2
	}
	return make(Index, size)
}

// HasRoom reports whether the index is large enough for so many entries.
func (x Index) HasRoom(n int) bool { return 2*n <= len(x) }

// Set has the index find an entry by its number, n, from now on, and not the one that it found before.
func (x Index) Set(hash uint64, n int, is func(n int) bool) { x[x.slot(hash, is)] = int32(n + 1) }

// Find returns the number of an entry, or -1.
func (x Index) Find(hash uint64, is func(n int) bool) int { return int(x[x.slot(hash, is)]) - 1 }

// slot returns where an entry is, or would be.
func (x Index) slot(hash uint64, is func(n int) bool) int {
	mask := len(x) - 1
	i := int(hash) & mask
	for x[i] != 0 && !is(int(x[i]-1)) {
		i = (i + 1) & mask
	}
	return i
}
