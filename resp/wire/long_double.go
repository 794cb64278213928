package wire

import (
	"bytes"
	"errors"
	"math"
	"math/big"
)

// Redis adds with C's long double in INCRBYFLOAT and HINCRBYFLOAT. On x86 that is
// a float with 64 bits of mantissa; here it is a big.Float of that precision, so
// that sums are rounded as there, on every machine.

var (
	// ErrNotFloat: a text is not a number.
	ErrNotFloat   = errors.New("ERR value is not a valid float")
	errIncrNotNum = errors.New("ERR increment would produce NaN or Infinity")
)

const (
	longDoubleBits   = 64
	longDoubleMaxExp = 16384  // every finite one is below 2 to this
	longDoubleMinExp = -16446 // up to 2 to this, all becomes zero

	// maxLongDouble is the first length of text that Redis does not read.
	maxLongDouble = 5 * 1024

	// Digits after the point that Redis writes.
	longDoubleDigits = 17
)

// AddFloat returns the text of old + incr, as INCRBYFLOAT stores and answers it:
// never with an exponent, at most 17 digits after the point. For a key that does
// not exist old is "0". The errors are [ErrNotFloat] and errIncrNotNum.
func AddFloat(old, incr []byte) ([]byte, error) {
	x, ok := ParseLongDouble(old)
	if !ok {
		return nil, ErrNotFloat
	}
	y, ok := ParseLongDouble(incr)
	if !ok {
		return nil, ErrNotFloat
	}
	// big.Float panics on the sum of two infinities.
	if x.IsInf() || y.IsInf() {
		return nil, errIncrNotNum
	}
	sum := NewLongDouble().Add(x, y)
	if sum.MantExp(nil) > longDoubleMaxExp {
		return nil, errIncrNotNum
	}
	return AppendLongDouble(nil, sum), nil
}

// NewLongDouble returns zero. It rounds to the nearest, halves to even, as C does.
func NewLongDouble() *big.Float { return new(big.Float).SetPrec(longDoubleBits) }

// MaxLongDouble returns the largest finite number that C's long double can hold.
func MaxLongDouble() *big.Float {
	ones := NewLongDouble().SetUint64(math.MaxUint64)
	return ones.SetMantExp(ones, longDoubleMaxExp-longDoubleBits)
}

// ParseLongDouble reads what strtold does, as Redis uses it: like parseFloat, with
// the range and precision of a long double, and not above 5 KiB of text. That
// bounds the work as well.
//
// Numbers below 2^-16382 keep more bits than a long double would: no sum shows
// them.
func ParseLongDouble(b []byte) (*big.Float, bool) {
	if len(b) >= maxLongDouble {
		return nil, false
	}
	num, ok := scanNumeral(b)
	if !ok {
		return nil, false
	}
	x := NewLongDouble()
	switch {
	case num.inf:
		return x.SetInf(num.neg), true
	case num.zero():
	case num.hex:
		hexLongDouble(x, &num)
	default:
		if !decimalLongDouble(x, &num) {
			return nil, false
		}
	}
	if x.Sign() != 0 && !inLongDouble(x) {
		return nil, false
	}
	if num.neg {
		x.Neg(x)
	}
	return x, true
}

// inLongDouble reports whether a positive x is one that a long double can hold,
// neither too large nor so small that zero would be next.
func inLongDouble(x *big.Float) bool {
	var mant big.Float
	exp := x.MantExp(&mant) // mant is at least ½
	if exp == longDoubleMinExp+1 {
		half := big.NewFloat(0.5) // x is 2^longDoubleMinExp: halfway, to zero
		return mant.Cmp(half) > 0
	}
	return exp > longDoubleMinExp && exp <= longDoubleMaxExp
}

// hexLongDouble sets x to the value of a hexadecimal numeral, rounded once.
func hexLongDouble(x *big.Float, num *numeral) {
	var mant big.Int
	mant.SetString(string(num.whole)+string(num.fraction), 16)
	x.SetInt(&mant)
	x.SetMantExp(x, num.exp-4*len(num.fraction))
}

// decimalLongDouble sets x to the value of a decimal numeral, rounded once. It
// reports false for what is far out of range, before powers of ten are computed
// for it.
func decimalLongDouble(x *big.Float, num *numeral) bool {
	digits := bytes.TrimLeft(append(bytes.Clone(num.whole), num.fraction...), "0")
	exp := num.exp - len(num.fraction)
	// The value is from 10^(top-1) up to 10^top.
	top := exp + len(digits)
	if top > 4950 || top < -4960 {
		return false
	}
	trimmed := bytes.TrimRight(digits, "0")
	exp += len(digits) - len(trimmed)
	var mant, pow big.Int
	mant.SetString(string(trimmed), 10)
	if exp >= 0 {
		pow.Exp(big.NewInt(10), big.NewInt(int64(exp)), nil)
		x.SetInt(mant.Mul(&mant, &pow))
		return true
	}
	// Both are exact, so that only the quotient is rounded.
	pow.Exp(big.NewInt(10), big.NewInt(int64(-exp)), nil)
	x.Quo(new(big.Float).SetInt(&mant), new(big.Float).SetInt(&pow))
	return true
}

// AppendLongDouble appends x as Redis shows a long double to people: 17 digits
// after the point, less the zeros at the end, and no negative zero. x must be
// finite.
func AppendLongDouble(dst []byte, x *big.Float) []byte {
	start := len(dst)
	dst = x.Append(dst, 'f', longDoubleDigits)
	dst = bytes.TrimRight(dst, "0") // there is a point to stop at
	dst = bytes.TrimSuffix(dst, []byte("."))
	if string(dst[start:]) == "-0" {
		dst = append(dst[:start], '0')
	}
	return dst
}
