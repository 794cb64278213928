package bitmaps

import (
	"math"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A fieldType is the type of an integer in a BITFIELD: signed of 1 to 64 bits, or
// unsigned of 1 to 63. So every value fits an int64.
type fieldType struct {
	signed bool
	bits   uint
}

// fieldTypeOf parses i1 to i64 and u1 to u63.
func fieldTypeOf(arg []byte) (t fieldType, ok bool) {
	if len(arg) == 0 || arg[0] != 'i' && arg[0] != 'u' {
		return t, false
	}
	n, ok := wire.ParseInt(arg[1:])
	t = fieldType{signed: arg[0] == 'i', bits: uint(n)}
	return t, ok && n >= 1 && (n <= 63 || t.signed && n == 64)
}

// value is what the bits of a field mean.
func (t fieldType) value(raw uint64) int64 {
	if t.signed {
		shift := 64 - t.bits
		return int64(raw<<shift) >> shift
	}
	return int64(raw)
}

func (t fieldType) min() int64 {
	if t.signed {
		return math.MinInt64 >> (64 - t.bits)
	}
	return 0
}

func (t fieldType) max() int64 {
	if t.signed {
		return math.MaxInt64 >> (64 - t.bits)
	}
	return 1<<t.bits - 1
}

// fieldOverflow is what becomes of a value that does not fit.
type fieldOverflow uint8

const (
	overflowWrap fieldOverflow = iota
	overflowSat
	overflowFail
)

func overflowOf(arg []byte) (o fieldOverflow, ok bool) {
	switch {
	case wire.EqualFold(arg, "wrap"):
		return overflowWrap, true
	case wire.EqualFold(arg, "sat"):
		return overflowSat, true
	case wire.EqualFold(arg, "fail"):
		return overflowFail, true
	}
	return 0, false
}

// add returns n + by as a value of the type; false if it does not fit and must
// not be made to. n itself may be any number: to set a field is to add nothing
// to it. A negative one that is set counts as a huge one in an unsigned field, as
// in Redis.
func (t fieldType) add(n, by int64, o fieldOverflow) (int64, bool) {
	sum := n + by
	var tooLarge, tooSmall bool
	switch {
	case !t.signed && n < 0:
		tooLarge = true
	case t.bits < 64 && n < 0 && t.max()-n < 0:
		// So far below every value of the type that the distance overflows: Redis
		// takes it for too large.
		tooLarge = true
	case by > 0 && sum < n:
		tooLarge = true
	case by < 0 && sum > n:
		tooSmall = true
	default:
		tooLarge, tooSmall = sum > t.max(), sum < t.min()
	}
	switch {
	case !tooLarge && !tooSmall:
		return sum, true
	case o == overflowFail:
		return 0, false
	case o == overflowWrap:
		return t.value(uint64(sum) & (math.MaxUint64 >> (64 - t.bits))), true
	case tooLarge:
		return t.max(), true
	}
	return t.min(), true
}
