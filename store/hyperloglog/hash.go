package hyperloglog

import (
	"encoding/binary"
	"math/bits"
)

const (
	indexBits = 14             // of a hash name the register,
	runBits   = 64 - indexBits // and the others hold the run of zeros that it counts
)

// place returns the register of an element, and the number that it must hold at least: the
// position, from 1 on, of the lowest bit that is set in the rest of the element's hash.
func place(element []byte) (register int, count uint8) {
	h := murmur64A(element, 0xadc83b19)
	return int(h & (Registers - 1)), uint8(bits.TrailingZeros64(h>>indexBits|1<<runBits) + 1)
}

// murmur64A is Austin Appleby's MurmurHash64A, with words in little-endian order.
func murmur64A(b []byte, seed uint64) uint64 {
	const m, r = 0xc6a4a7935bd1e995, 47
	h := seed ^ uint64(len(b))*m
	for ; len(b) >= 8; b = b[8:] {
		k := binary.LittleEndian.Uint64(b) * m
		k = (k ^ k>>r) * m
		h = (h ^ k) * m
	}
	if len(b) > 0 {
		var rest [8]byte
		copy(rest[:], b)
		h = (h ^ binary.LittleEndian.Uint64(rest[:])) * m
	}
	h = (h ^ h>>r) * m
	return h ^ h>>r
}
