package buckets

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/ring"
)

// Masks of the strategy.
const (
	// DefaultMask is that of a new cluster: 256 buckets.
	DefaultMask = 0x00FF
	// MaxMask is the widest: 65536 buckets.
	MaxMask = 0xFFFF
	// MaxSlotMask is the widest under --hash slot: a slot has 14 bits, and a bucket
	// must not cut one.
	MaxSlotMask = 0x0FFF
	// splitBits is how many bits a mask grows by when its bucket is split.
	splitBits = 4
)

// A Hashmask names a bucket: all hashes with hash & Mask == ID. The mask is a run of
// low ones, 0x0001 to MaxMask.
type Hashmask struct {
	Mask, ID uint32
}

// HashOf is the hash that masks are applied to: the token reversed bit by bit.
func HashOf(t ring.Token) uint32 { return bits.Reverse32(uint32(t)) }

// Contains tells whether a hash belongs to the bucket.
func (h Hashmask) Contains(hash uint32) bool { return hash&h.Mask == h.ID }

// Range is the range of the bucket's tokens.
func (h Hashmask) Range() ring.Range {
	start := bits.Reverse32(h.ID)
	return ring.Range{Start: ring.Token(start), End: ring.Token(start + 1<<(32-h.width()))}
}

func (h Hashmask) width() int { return bits.Len32(h.Mask) }

// String is ID/MASK in hexadecimal, as in 0009/000F.
func (h Hashmask) String() string { return fmt.Sprintf("%04X/%04X", h.ID, h.Mask) }

// ParseHashmask reads what [Hashmask.String] writes.
func ParseHashmask(s string) (Hashmask, error) {
	id, mask, ok := strings.Cut(s, "/")
	if !ok {
		return Hashmask{}, fmt.Errorf("%w: %.40q is not a hashmask: a hashmask is ID/MASK, as in 0009/000F", ring.ErrMalformed, s)
	}
	m, err := ParseMask(mask)
	if err != nil {
		return Hashmask{}, err
	}
	n, err := strconv.ParseUint(id, 16, 32)
	if err != nil || uint32(n)&m != uint32(n) {
		return Hashmask{}, fmt.Errorf("%w: %.40q is not a bucket under mask %04X", ring.ErrMalformed, id, m)
	}
	return Hashmask{Mask: m, ID: uint32(n)}, nil
}

// ParseMask reads a mask in hexadecimal, with or without 0x.
func ParseMask(s string) (uint32, error) {
	digits, prefixed := strings.CutPrefix(s, "0x")
	if !prefixed {
		digits = strings.TrimPrefix(s, "0X")
	}
	m, err := strconv.ParseUint(digits, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("%w: mask %.40q is not hexadecimal, as in 00FF", ErrMask, s)
	}
	return uint32(m), checkMask(uint32(m), MaxMask)
}

func checkMask(m, most uint32) error {
	switch {
	case m == 0:
		return fmt.Errorf("%w: mask 0000 has no bit", ErrMask)
	case m&(m+1) != 0:
		return fmt.Errorf("%w: mask %04X is not a run of ones from the lowest bit, as in 00FF", ErrMask, m)
	case m > most:
		return fmt.Errorf("%w: mask %X is above %04X", ErrMask, m, most)
	}
	return nil
}

// ofRange is the bucket of a range, if it is one.
func ofRange(r ring.Range) (Hashmask, bool) {
	n := r.Len()
	width := 32 - bits.TrailingZeros64(n)
	if n&(n-1) != 0 || uint64(r.Start)%n != 0 || width < 1 || width > bits.Len32(MaxMask) {
		return Hashmask{}, false
	}
	return Hashmask{Mask: 1<<width - 1, ID: bits.Reverse32(uint32(r.Start))}, true
}

// canSplit tells whether the bucket's children are within a mask.
func (h Hashmask) canSplit(most uint32) bool { return h.Mask<<splitBits|(1<<splitBits-1) <= most }

// children are the 16 buckets that a split makes of one, in the order of their
// tokens.
func (h Hashmask) children() [1 << splitBits]Hashmask {
	var all [1 << splitBits]Hashmask
	for i := range all {
		lead := uint32(bits.Reverse8(uint8(i)) >> (8 - splitBits))
		all[i] = Hashmask{Mask: h.Mask<<splitBits | (1<<splitBits - 1), ID: lead<<h.width() | h.ID}
	}
	return all
}
