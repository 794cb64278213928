package bitmaps

import (
	"encoding/binary"
	"math/bits"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/strings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// The commands on single bits and runs of bits. Bit 0 is the highest bit of the
// first byte.

// bitStep is how much of a long string is looked at in one go, in bytes.
const bitStep = 64 << 10

// bitOffset parses an offset in bits.
func bitOffset(x *command.Call, arg []byte) (int64, bool) {
	n, ok := wire.ParseInt(arg)
	return n, ok && n >= 0 && n>>3 < x.Limits.MaxValue.Load()
}

func cmdGetbit(x *command.Call) {
	off, ok := bitOffset(x, x.Args[2])
	if !ok {
		x.Error(command.MsgBitOffset)
		return
	}
	if v, ok := x.GetString(x.Args[1]); ok {
		if b, ok := byteAt(x, x.Args[1], v, off>>3); ok {
			x.Bool(b>>(7-off&7)&1 == 1)
		}
	}
}

func cmdSetbit(x *command.Call) {
	key := x.Args[1]
	off, ok := bitOffset(x, x.Args[2])
	if !ok {
		x.Error(command.MsgBitOffset)
		return
	}
	bit, ok := wire.ParseInt(x.Args[3])
	if !ok || bit&^1 != 0 {
		x.Error("ERR bit is not an integer or out of range")
		return
	}
	v, ok := x.GetString(key)
	if !ok {
		return
	}
	b, ok := byteAt(x, key, v, off>>3)
	if !ok {
		return
	}
	shift := 7 - off&7
	old := b >> shift & 1
	b = b&^(1<<shift) | byte(bit)<<shift
	changes := old != byte(bit) || off>>3 >= v.Size
	if changes || !v.Raw { // what is written by parts becomes raw, also without a change
		if _, err := x.Unit.WriteRange(key, v, off>>3, []byte{b}); err != nil {
			x.Fail(err)
			return
		}
	}
	if changes {
		x.Unit.Note(store.EventString, "setbit", key)
	}
	x.Int(int64(old))
}

// byteAt returns one byte of a string, zero beyond its end. It has replied, and
// returns false, if it cannot be read.
func byteAt(x *command.Call, key []byte, v store.Value, i int64) (byte, bool) {
	if i >= v.Size {
		return 0, true
	}
	if v.Whole() {
		return v.Inline[i], true
	}
	var one [1]byte
	b, err := x.Unit.ReadRange(key, v, i, 1, one[:0])
	if err != nil {
		x.Fail(err)
		return 0, false
	}
	return b[0], true
}

// eachPart calls f with bytes off to off+n of a string, part by part, until f
// returns false.
func eachPart(x *command.Call, key []byte, v store.Value, off, n int64, f func([]byte) bool) error {
	if v.Whole() {
		f(v.Inline[off : off+n])
		return nil
	}
	var part []byte
	for n > 0 {
		m := min(n, bitStep-off%bitStep)
		var err error
		if part, err = x.Unit.ReadRange(key, v, off, m, part[:0]); err != nil {
			return err
		}
		if !f(part) {
			return nil
		}
		off += m
		n -= m
	}
	return nil
}

// bitUnit parses BYTE or BIT.
func bitUnit(arg []byte) (isBit, ok bool) {
	isBit = wire.EqualFold(arg, "bit")
	return isBit, isBit || wire.EqualFold(arg, "byte")
}

func cmdBitcount(x *command.Call) {
	key := x.Args[1]
	bounds, msg := bitcountBounds(x.Args[2:])
	if msg != "" {
		x.Error(msg)
		return
	}
	v, ok := x.GetString(key)
	if !ok {
		return
	}
	r, ok := bounds.of(v.Size)
	if !ok || bounds.start < 0 && bounds.end < 0 && bounds.start > bounds.end {
		x.Int(0)
		return
	}
	count := int64(0)
	err := eachPart(x, key, v, r.firstByte(), r.bytes(), func(part []byte) bool {
		count += ones(part)
		return true
	})
	if err == nil {
		var edges int64
		edges, err = onesOutside(x, key, v, r)
		count -= edges
	}
	if err != nil {
		x.Fail(err)
		return
	}
	x.Int(count)
}

// onesOutside counts the ones in the first and last byte of a range that are not
// part of it.
func onesOutside(x *command.Call, key []byte, v store.Value, r bitRange) (int64, error) {
	var two [2]byte
	edges, err := x.Unit.ReadRange(key, v, r.firstByte(), 1, two[:0])
	if err == nil {
		edges, err = x.Unit.ReadRange(key, v, r.last>>3, 1, edges)
	}
	if err != nil {
		return 0, err
	}
	before := edges[0] &^ (0xff >> (r.first & 7))
	after := edges[1] & (1<<(7-r.last&7) - 1)
	return int64(bits.OnesCount8(before) + bits.OnesCount8(after)), nil
}

// bitBounds are a range of bytes or bits as a command names it: bounds below 0 count from the end.
type bitBounds struct {
	start, end int64
	isBit      bool
}

// of resolves bounds in a string of size bytes. It returns false if the range is empty.
func (b bitBounds) of(size int64) (bitRange, bool) { return newBitRange(b.start, b.end, size, b.isBit) }

// bitcountBounds parses the range of BITCOUNT, or returns an error reply.
func bitcountBounds(args [][]byte) (b bitBounds, msg string) {
	switch len(args) {
	case 0:
		return bitBounds{end: -1}, ""
	case 2, 3:
	default:
		return b, command.MsgSyntax
	}
	var ok1, ok2 bool
	b.start, ok1 = wire.ParseInt(args[0])
	b.end, ok2 = wire.ParseInt(args[1])
	if !ok1 || !ok2 {
		return b, command.MsgNotInteger
	}
	if len(args) == 3 {
		var ok bool
		if b.isBit, ok = bitUnit(args[2]); !ok {
			return b, command.MsgSyntax
		}
	}
	return b, ""
}

// A bitRange is a range of bits, both ends included.
type bitRange struct{ first, last int64 }

// newBitRange resolves a range of bits or bytes in a string of size bytes; it
// returns false if it is empty.
func newBitRange(start, end, size int64, isBit bool) (bitRange, bool) {
	scale := int64(8)
	if isBit {
		scale = 1
	}
	size *= 8 / scale
	first, last := strings.FromEnd(start, size), min(strings.FromEnd(end, size), size-1)
	if first > last {
		return bitRange{}, false
	}
	return bitRange{first * scale, last*scale + scale - 1}, true
}

func (r bitRange) firstByte() int64 { return r.first >> 3 }
func (r bitRange) bytes() int64     { return r.last>>3 - r.first>>3 + 1 }

// ones counts the bits that are set.
func ones(b []byte) int64 {
	n := 0
	for ; len(b) >= 8; b = b[8:] {
		n += bits.OnesCount64(binary.LittleEndian.Uint64(b))
	}
	for _, c := range b {
		n += bits.OnesCount8(c)
	}
	return int64(n)
}
