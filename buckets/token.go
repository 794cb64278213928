package buckets

import (
	"math/bits"

	"github.com/ringside-kv/ringside/ring"
)

// FNV-1a of 64 bits, http://www.isthe.com/chongo/tech/comp/fnv/.
const (
	fnvOffset = 0xcbf29ce484222325
	fnvPrime  = 0x100000001b3
)

// Token is the [ring.TokenFunc] of the strategy: the low 32 bits of FNV-1a 64 of
// the hash tag, reversed. Reversed, the bits that a mask looks at first lead, and
// the 16 children of a bucket tile its range.
func Token(key []byte) ring.Token {
	return ring.Token(bits.Reverse32(uint32(fnv1a(ring.HashTag(key)))))
}

// fnv1a is written by hand since hash/fnv goes through an interface.
func fnv1a(b []byte) uint64 {
	h := uint64(fnvOffset)
	for _, c := range b {
		h ^= uint64(c)
		h *= fnvPrime
	}
	return h
}
