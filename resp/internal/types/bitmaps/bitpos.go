package bitmaps

import (
	"encoding/binary"
	"math/bits"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdBitpos(x *command.Call) {
	key := x.Args[1]
	bit, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	if bit&^1 != 0 {
		x.Error("ERR The bit argument must be 1 or 0.")
		return
	}
	bounds, msg := bitposBounds(x.Args[3:])
	if msg != "" {
		x.Error(msg)
		return
	}
	v, ok := x.GetString(key)
	if !ok {
		return
	}
	if !v.Exists() {
		x.Int(-bit) // zeros without end
		return
	}
	r, ok := bounds.of(v.Size)
	if !ok {
		x.Int(-1)
		return
	}
	s := bitSearch{want: byte(bit), pos: r.firstByte() * 8, r: r}
	if err := eachPart(x, key, v, r.firstByte(), r.bytes(), s.next); err != nil {
		x.Fail(err)
		return
	}
	switch {
	case s.found:
		x.Int(s.pos)
	case bit == 0 && len(x.Args) < 5:
		x.Int(v.Size * 8) // without an end, zeros follow
	default:
		x.Int(-1)
	}
}

// bitposBounds parses the range of BITPOS, or returns an error reply.
func bitposBounds(args [][]byte) (b bitBounds, msg string) {
	b.end = -1
	ok := true
	if len(args) > 3 {
		return b, command.MsgSyntax
	}
	if len(args) > 0 {
		if b.start, ok = wire.ParseInt(args[0]); !ok {
			return b, command.MsgNotInteger
		}
	}
	if len(args) > 2 {
		if b.isBit, ok = bitUnit(args[2]); !ok {
			return b, command.MsgSyntax
		}
	}
	if len(args) > 1 {
		if b.end, ok = wire.ParseInt(args[1]); !ok {
			return b, command.MsgNotInteger
		}
	}
	return b, ""
}

// A bitSearch looks for the first bit of one kind in a range that it is given part
// by part, in whole bytes.
type bitSearch struct {
	want  byte
	pos   int64 // of the next part, and in the end of the bit
	r     bitRange
	found bool
}

// next searches one more part, and reports whether to go on.
func (s *bitSearch) next(part []byte) bool {
	flip := byte(0)
	if s.want == 0 {
		flip = 0xff
	}
	if skip := s.r.first - s.pos; skip > 0 {
		// Only in the first byte: what lies before the range does not count.
		if c := (part[0] ^ flip) & (0xff >> skip); c != 0 {
			return s.at(c)
		}
		part = part[1:]
		s.pos += 8
	}
	wide := uint64(0)
	if flip != 0 {
		wide = ^wide
	}
	for len(part) >= 8 && binary.LittleEndian.Uint64(part) == wide {
		part = part[8:]
		s.pos += 64
	}
	for _, c := range part {
		if c ^= flip; c != 0 {
			return s.at(c)
		}
		s.pos += 8
	}
	return true
}

// at ends the search in a byte that has the bit, unless it lies behind the range.
func (s *bitSearch) at(c byte) bool {
	s.pos += int64(bits.LeadingZeros8(c))
	s.found = s.pos <= s.r.last
	return false
}
