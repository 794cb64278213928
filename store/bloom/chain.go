package bloom

import (
	"errors"
	"math"
)

// Options of a chain, as RedisBloom numbers them.
const (
	// optExact: filters have as many bits as they need, not a power of two.
	optExact = 1
	// opt64 is there in every chain: items have hashes of 64 bits.
	opt64 = 4
	// OptFixed: the chain does not grow.
	OptFixed = 8

	optKnown = optExact | 2 | opt64 | OptFixed
)

const (
	// MaxLinks is how many filters a chain may have: each command looks at all of them.
	MaxLinks = 1 << 10
	// maxHashes is how many bits an item may have in a filter: with that many the error is 10^-300.
	maxHashes = 1 << 10
	// tightening is the error of a filter in proportion to that of the one before.
	tightening = 0.5
	// ln2 and its square with as many digits as RedisBloom has, which checks what they lead to.
	ln2, ln2Squared = 0.693147180559945, 0.480453013918201
	// chainBytes and linkBytes are what a chain and a filter take in memory where RedisBloom runs, beside the bits.
	chainBytes, linkBytes = 32, 64
)

// Errors of chains.
var (
	// ErrTooLarge: the filter would be larger than it may be.
	ErrTooLarge = errors.New("the filter would be too large")
	// ErrFull: a chain that does not grow has as many items as it may have.
	ErrFull = errors.New("the filter is full")
	// ErrForm: bytes are not the head of a chain.
	ErrForm = errors.New("not the head of a filter")
)

// A Chain is what is known of a scalable filter beside its bits.
type Chain struct {
	Size    uint64 // items that were added
	Options uint64
	Growth  uint64 // how many times the capacity of the one before a filter has
	Links   []Link
}

// A Link is one filter of a chain.
type Link struct {
	Capacity uint64 // items that it takes
	Error    float64
	Hashes   uint64  // bits of an item
	BPE      float64 // bits for each item of the capacity
	Bits     uint64  // a multiple of 8
	N2       uint64  // the bits that are used are a power of two; 0: all are
	Size     uint64  // items that were added
}

// Bytes returns how many bytes the bits of the filter take.
func (l *Link) Bytes() uint64 { return l.Bits / 8 }

// New returns a chain without items for a capacity and an error between 0 and 1. most is how many bytes its bits may take.
func New(capacity uint64, errorRate float64, growth uint64, fixed bool, most int64) (*Chain, error) {
	c := &Chain{Options: optExact | opt64, Growth: growth}
	if fixed {
		c.Options |= OptFixed
	} else {
		errorRate *= tightening
	}
	return c, c.add(float64(capacity), errorRate, most)
}

// add adds a filter to the chain.
func (c *Chain) add(capacity, errorRate float64, most int64) error {
	bpe := math.Abs(math.Log(errorRate) / ln2Squared)
	bits := max(math.Floor(capacity*bpe), 1)
	if errorRate <= 0 || c.Bytes()+int64(min(bits, 1<<60)/8)+8 > most || len(c.Links) == MaxLinks {
		return ErrTooLarge
	}
	l := Link{Capacity: uint64(capacity), Error: errorRate, BPE: bpe, Hashes: hashes(bpe), Bits: (uint64(bits) + 63) / 64 * 64}
	if l.Hashes > maxHashes {
		return ErrTooLarge
	}
	c.Links = append(c.Links, l)
	return nil
}

// hashes returns how many bits an item has.
func hashes(bpe float64) uint64 { return uint64(math.Ceil(ln2 * bpe)) }

// Bytes returns how many bytes the bits of all filters take.
func (c *Chain) Bytes() (n int64) {
	for i := range c.Links {
		n += int64(c.Links[i].Bytes())
	}
	return n
}

// Capacity returns how many items all filters take.
func (c *Chain) Capacity() (n uint64) {
	for i := range c.Links {
		n += c.Links[i].Capacity
	}
	return n
}

// Memory returns what RedisBloom would say that the chain takes.
func (c *Chain) Memory() int64 { return chainBytes + linkBytes*int64(len(c.Links)) + c.Bytes() }

// IsFixed reports whether the chain does not grow.
func (c *Chain) IsFixed() bool { return c.Options&OptFixed != 0 }

// Grow adds a filter if the last one is full. The error is [ErrFull] or [ErrTooLarge] if that is not possible.
func (c *Chain) Grow(most int64) error {
	last := &c.Links[len(c.Links)-1]
	switch {
	case last.Size < last.Capacity:
		return nil
	case c.IsFixed():
		return ErrFull
	}
	return c.add(float64(last.Capacity)*float64(c.Growth), last.Error*tightening, most)
}

// check returns ErrForm, or ErrTooLarge, unless the chain is one that can be.
func (c *Chain) check(most int64) error {
	total := uint64(0)
	if len(c.Links) == 0 || len(c.Links) > MaxLinks || c.Options&^optKnown != 0 || c.Options&opt64 == 0 || c.Growth > math.MaxUint32 {
		return ErrForm
	}
	for i := range c.Links {
		l := &c.Links[i]
		used := l.Bits
		if l.N2 > 0 && l.N2 < 64 {
			used = 1 << l.N2
		}
		if !(l.Error > 0 && l.Error < 1) || !(l.BPE > 0 && l.BPE < maxHashes/ln2) || l.N2 > 63 || l.Bits == 0 || l.Bits%8 != 0 ||
			used > l.Bits || l.Hashes != hashes(l.BPE) || l.Size > math.MaxInt64-total || l.Capacity > math.MaxInt64 {
			return ErrForm
		}
		total += l.Size
		if l.Bytes() > uint64(max(most, 0)) || c.Bytes() > most {
			return ErrTooLarge
		}
	}
	if total != c.Size {
		return ErrForm
	}
	return nil
}

// A Hash is that of an item.
type Hash struct{ a, b uint64 }

// HashOf returns the hash of an item.
func HashOf(item []byte) Hash {
	a := murmur64(item, seed)
	return Hash{a, murmur64(item, a)}
}

// Bit returns the i-th bit of an item in the filter.
func (l *Link) Bit(h Hash, i uint64) uint64 {
	at := h.a + i*h.b
	if l.N2 > 0 {
		return at & (1<<l.N2 - 1)
	}
	return at % l.Bits
}
