package bloom

import (
	"encoding/binary"
	"math"

	"github.com/ringside-kv/ringside/store/rdb"
)

// The head of a chain as BF.SCANDUMP shows it, and as it is stored: size 8 B, filters 4 B, options 4 B, growth 4 B and for
// each filter bytes 8 B, bits 8 B, size 8 B, error 8 B, bits for each item 8 B, hashes 4 B, capacity 8 B and the power of two
// 1 B. All numbers are little-endian.
const (
	headLen = 8 + 4 + 4 + 4
	linkLen = 5*8 + 4 + 8 + 1
)

// HeadLen returns how many bytes the head of a chain has.
func (c *Chain) HeadLen() int { return headLen + len(c.Links)*linkLen }

// AppendHead appends the head of the chain.
func (c *Chain) AppendHead(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint64(dst, c.Size)
	for _, n := range []uint64{uint64(len(c.Links)), c.Options, c.Growth} {
		dst = le.AppendUint32(dst, uint32(n))
	}
	for i := range c.Links {
		l := &c.Links[i]
		for _, n := range []uint64{l.Bytes(), l.Bits, l.Size, math.Float64bits(l.Error), math.Float64bits(l.BPE)} {
			dst = le.AppendUint64(dst, n)
		}
		dst = le.AppendUint32(dst, uint32(l.Hashes))
		dst = le.AppendUint64(dst, l.Capacity)
		dst = append(dst, byte(l.N2))
	}
	return dst
}

// ReadHead reads the head of a chain whose bits take at most so many bytes, and returns what follows it. The error is
// [ErrForm] or [ErrTooLarge].
func ReadHead(b []byte, most int64) (c *Chain, rest []byte, err error) {
	le := binary.LittleEndian
	if len(b) < headLen {
		return nil, nil, ErrForm
	}
	n := int(le.Uint32(b[8:]))
	c = &Chain{Size: le.Uint64(b), Options: uint64(le.Uint32(b[12:])), Growth: uint64(le.Uint32(b[16:]))}
	b = b[headLen:]
	if n == 0 || n > MaxLinks || len(b) < n*linkLen {
		return nil, nil, ErrForm
	}
	for ; n > 0; n-- {
		l := Link{
			Bits: le.Uint64(b[8:]), Size: le.Uint64(b[16:]), Error: math.Float64frombits(le.Uint64(b[24:])),
			BPE: math.Float64frombits(le.Uint64(b[32:])), Hashes: uint64(le.Uint32(b[40:])), Capacity: le.Uint64(b[44:]), N2: uint64(b[52]),
		}
		if le.Uint64(b) != l.Bytes() {
			return nil, nil, ErrForm
		}
		c.Links = append(c.Links, l)
		b = b[linkLen:]
	}
	return c, b, c.check(most)
}

// AppendPayload appends a payload of DUMP for the chain. bits appends those of a filter.
func (c *Chain) AppendPayload(dst []byte, bits func(dst []byte, link int) ([]byte, error)) ([]byte, error) {
	start := len(dst)
	dst = rdb.BeginModule(dst, rdb.BloomType)
	for _, n := range []uint64{c.Size, uint64(len(c.Links)), c.Options, c.Growth} {
		dst = rdb.AppendUnsigned(dst, n)
	}
	var room []byte
	for i := range c.Links {
		l := &c.Links[i]
		dst = rdb.AppendDouble(rdb.AppendUnsigned(dst, l.Capacity), l.Error)
		dst = rdb.AppendDouble(rdb.AppendUnsigned(dst, l.Hashes), l.BPE)
		dst = rdb.AppendUnsigned(rdb.AppendUnsigned(dst, l.Bits), l.N2)
		var err error
		if room, err = bits(room[:0], i); err != nil {
			return dst, err
		}
		dst = rdb.AppendUnsigned(rdb.AppendPiece(dst, room), l.Size)
	}
	return rdb.EndModule(dst, start), nil
}

// ReadPayload reads what a payload holds: a chain, and the bits of each filter, which may share memory with the payload.
// most bounds all bits together. The errors are those of package rdb, and [ErrTooLarge].
func ReadPayload(v *rdb.Value, most int64) (c *Chain, bits [][]byte, err error) {
	p := v.Pieces()
	c = &Chain{Size: p.Unsigned()}
	n := p.Unsigned()
	c.Options, c.Growth = p.Unsigned(), p.Unsigned()
	if n == 0 || n > MaxLinks {
		p.Fail("%d filters", n)
	}
	for ; n > 0 && p.Err() == nil; n-- {
		l := Link{Capacity: p.Unsigned(), Error: p.Double(), Hashes: p.Unsigned(), BPE: p.Double(), Bits: p.Unsigned(), N2: p.Unsigned()}
		b := p.Bytes()
		l.Size = p.Unsigned()
		if uint64(len(b)) != l.Bytes() || l.Bits%8 != 0 {
			p.Fail("%d bytes for %d bits", len(b), l.Bits)
		}
		c.Links, bits = append(c.Links, l), append(bits, b)
	}
	if err := p.End(); err != nil {
		return nil, nil, err
	}
	if err := c.check(most); err != nil {
		p.Fail("%v", err)
		if err == ErrTooLarge {
			return nil, nil, err
		}
		return nil, nil, p.Err()
	}
	return c, bits, nil
}
