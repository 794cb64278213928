package bloom

import "encoding/binary"

const (
	seed       = 0xc6a4a7935bd1e995
	multiplier = 0xc6a4a7935bd1e995
)

// murmur64 is MurmurHash64A, by Austin Appleby, on little-endian words.
func murmur64(data []byte, seed uint64) uint64 {
	h := seed ^ uint64(len(data))*multiplier
	for ; len(data) >= 8; data = data[8:] {
		k := binary.LittleEndian.Uint64(data) * multiplier
		h = (h ^ (k^k>>47)*multiplier) * multiplier
	}
	if len(data) > 0 {
		var word [8]byte
		copy(word[:], data)
		h = (h ^ binary.LittleEndian.Uint64(word[:])) * multiplier
	}
	h = (h ^ h>>47) * multiplier
	return h ^ h>>47
}
