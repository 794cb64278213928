package bitmaps

import (
	"crypto/subtle"
	"strings"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// bitwise is an operation of BITOP on parts of its sources, which are equally long.
type bitwise struct {
	// lay lays src over dst. The first source is in dst from the start.
	lay func(dst, src []byte)
	// first, if set, joins the first source with what lay has made of the others alone.
	first func(dst, first []byte)
	not   bool // lay takes what is in dst, the only source
	one   bool // the bits that exactly one source has
}

// bitwiseOf returns the operation of a name, or nil. DIFF, DIFF1, ANDOR and ONE are of Redis 8.2.
func bitwiseOf(name []byte) *bitwise {
	for _, o := range [...]struct {
		name string
		op   bitwise
	}{
		{"and", bitwise{lay: bitAnd}},
		{"or", bitwise{lay: bitOr}},
		{"xor", bitwise{lay: bitXor}},
		{"not", bitwise{lay: bitNot, not: true}},
		{"diff", bitwise{lay: bitOr, first: bitOnlyFirst}},
		{"diff1", bitwise{lay: bitOr, first: bitNotFirst}},
		{"andor", bitwise{lay: bitOr, first: bitAnd}},
		{"one", bitwise{one: true}},
	} {
		if wire.EqualFold(name, o.name) {
			return &o.op
		}
	}
	return nil
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

// bitOnlyFirst keeps the bits of first that dst does not have.
func bitOnlyFirst(dst, first []byte) {
	for i, c := range first {
		dst[i] = c &^ dst[i]
	}
}

// bitNotFirst keeps the bits of dst that first does not have.
func bitNotFirst(dst, first []byte) {
	for i, c := range first {
		dst[i] &^= c
	}
}

// bitNot takes what is in dst already.
func bitNot(dst, _ []byte) {
	for i := range dst {
		dst[i] = ^dst[i]
	}
}

func cmdBitop(x *command.Call) {
	op := bitwiseOf(x.Args[1])
	switch {
	case op == nil:
		x.Error(command.MsgSyntax)
		return
	case op.not && len(x.Args) != 4:
		x.Error("ERR BITOP NOT must be called with a single source key.")
		return
	case op.first != nil && len(x.Args) < 5:
		x.Error("ERR BITOP " + strings.ToUpper(string(x.Args[1])) + " must be called with at least two source keys.")
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
		c := bitCombiner{x: x, op: op, keys: keys, sources: sources}
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
	op      *bitwise
	keys    [][]byte
	sources []store.Value
	part    []byte // of a source
	several []byte // bits that more than one source has
}

func (c *bitCombiner) fill(off int64, dst []byte) error {
	if c.part == nil && len(c.keys) > 1 {
		c.part = make([]byte, len(dst)) // the first part is the longest
	}
	start := 0
	if c.op.first != nil {
		start = 1
	}
	if err := c.read(start, off, dst); err != nil {
		return err
	}
	if c.op.not {
		c.op.lay(dst, nil)
		return nil
	}
	if c.op.one && len(c.keys) > 1 {
		return c.exactlyOne(off, dst)
	}
	for i := start + 1; i < len(c.keys); i++ {
		part := c.part[:len(dst)]
		if err := c.read(i, off, part); err != nil {
			return err
		}
		c.op.lay(dst, part)
	}
	if c.op.first == nil {
		return nil
	}
	part := c.part[:len(dst)]
	if err := c.read(0, off, part); err != nil {
		return err
	}
	c.op.first(dst, part)
	return nil
}

// exactlyOne leaves the bits in dst, which holds the first source, that one source alone has.
func (c *bitCombiner) exactlyOne(off int64, dst []byte) error {
	if c.several == nil {
		c.several = make([]byte, len(dst))
	}
	several := c.several[:len(dst)]
	clear(several)
	for i := 1; i < len(c.keys); i++ {
		part := c.part[:len(dst)]
		if err := c.read(i, off, part); err != nil {
			return err
		}
		for j, b := range part {
			several[j] |= dst[j] & b
			dst[j] |= b
		}
	}
	bitNotFirst(dst, several)
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
