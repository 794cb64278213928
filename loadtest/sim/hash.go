package sim

import "github.com/ringside-kv/ringside/ring"

// mix makes every bit of its result depend on every bit of x: the finalizer of
// murmur3 x64, https://github.com/aappleby/smhasher.
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// wideHash is the hash that the yardsticks start from, FNV-1a 64 mixed once more,
// since they look at few of its bits.
func wideHash(b []byte) uint64 {
	h := uint64(0xcbf29ce484222325)
	for _, c := range b {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return mix(h)
}

// wideKeyHash hashes the key's hash tag, or its slot.
func wideKeyHash(key []byte, bySlot bool) uint64 {
	if bySlot {
		return mix(uint64(ring.Slot(key)) + 1)
	}
	return wideHash(ring.HashTag(key))
}
