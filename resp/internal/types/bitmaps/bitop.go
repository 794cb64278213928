package bitmaps

import (
	"crypto/subtle"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// bitwise is an operation of BITOP: it lays src over dst, which is as long.
type bitwise func(dst, src []byte)

// bitwiseOf returns the operation of a name, or nil; not says that it is NOT.
func bitwiseOf(name []byte) (op bitwise, not bool) {
	switch {
	case wire.EqualFold(name, "and"):
		return bitAnd, false
	case wire.EqualFold(name, "or"):
		return bitOr, false
	case wire.EqualFold(name, "xor"):
		return bitXor, false
	case wire.EqualFold(name, "not"):
		return bitNot, true
	}
	return nil, false
}

func bitAnd(dst, src []byte) {
	for i, c := range src {
		dst[i] &= c
	}
}

func bitOr(dst, src []byte) {
	for i, c := range src {
		dst[i] |= c
	}
}

func bitXor(dst, src []byte) { subtle.XORBytes(dst, dst, src) }

// bitNot takes what is in dst already.
func bitNot(dst, _ []byte) {
	for i := range dst {
		dst[i] = ^dst[i]
	}
}

func cmdBitop(x *command.Call) {
	op, not := bitwiseOf(x.Args[1])
	if op == nil {
		x.Error(command.MsgSyntax)
		return
	}
	if not && len(x.Args) != 4 {
		x.Error("ERR BITOP NOT must be called with a single source key.")
		return
	}
	dst, keys := x.Args[2], x.Args[3:]
	sources := make([]store.Value, len(keys))
	size := int64(0)
	for i, key := range keys {
		v, ok := x.ReadString(key)
		if !ok {
			return
		}
		sources[i] = v
		size = max(size, v.Size)
	}
	target, err := x.Unit.Get(dst)
	switch {
	case err != nil:
	case size == 0:
		x.Unit.Delete(dst, target)
	default:
		c := bitCombiner{x: x, op: op, not: not, keys: keys, sources: sources}
		err = x.Unit.BuildString(dst, target, size, 0, true, c.fill)
	}
	switch {
	case err != nil:
		x.Fail(err)
		return
	case size > 0:
		x.Unit.Note(store.EventString, "set", dst)
	case target.Exists():
		x.Unit.Note(store.EventGeneric, "del", dst)
	}
	x.Int(size)
}

// A bitCombiner computes the result of BITOP part by part.
type bitCombiner struct {
	x       *command.Call
	op      bitwise
	not     bool
	keys    [][]byte
	sources []store.Value
	part    []byte
}

func (c *bitCombiner) fill(off int64, dst []byte) error {
	if err := c.read(0, off, dst); err != nil {
		return err
	}
	if c.not {
		c.op(dst, nil)
		return nil
	}
	if c.part == nil && len(c.keys) > 1 {
		c.part = make([]byte, len(dst)) // the first part is the longest
	}
	for i := 1; i < len(c.keys); i++ {
		part := c.part[:len(dst)]
		if err := c.read(i, off, part); err != nil {
			return err
		}
		c.op(dst, part)
	}
	return nil
}

// read fills dst from offset off of a source on, with zeros behind its end.
func (c *bitCombiner) read(i int, off int64, dst []byte) error {
	v := c.sources[i]
	n := max(min(v.Size-off, int64(len(dst))), 0)
	if n > 0 {
		if _, err := c.x.Unit.ReadRange(c.keys[i], v, off, n, dst[:0]); err != nil {
			return err
		}
	}
	clear(dst[n:])
	return nil
}
