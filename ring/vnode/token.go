package vnode

import (
	"github.com/twmb/murmur3"

	"github.com/ringside-kv/ringside/ring"
)

// seed of the ring: with another one every key has another place.
const seed = 0xa9b4de21

// signBit, flipped, makes the order of tokens that of the signed hashes.
const signBit = 1 << 31

// Token is the [ring.TokenFunc] of the strategy: murmur3 x86-32 of the bytes of
// the hash tag, its sign bit flipped.
func Token(key []byte) ring.Token {
	return ring.Token(hash(ring.HashTag(key)) ^ signBit)
}

func hash(b []byte) uint32 { return murmur3.SeedSum32(seed, b) }
