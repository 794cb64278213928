package wire

import (
	"bytes"
	"math"
	"strconv"
)

// MaxIntText is the length of the longest text of a 64-bit integer.
const MaxIntText = len("-9223372036854775808")

// ParseInt reads an integer the way Redis reads its arguments: the text that
// printing the number would give, and nothing else. So no spaces, plus sign,
// leading zeros or "-0".
func ParseInt(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > MaxIntText {
		return 0, false
	}
	if len(b) == 1 && b[0] == '0' {
		return 0, true
	}
	digits := b
	if b[0] == '-' {
		digits = b[1:]
	}
	if len(digits) == 0 || digits[0] == '0' {
		return 0, false
	}
	n := uint64(0)
	for _, c := range digits {
		if c < '0' || c > '9' {
			return 0, false
		}
		// Twenty digits may pass the end of 64 bits, nineteen cannot.
		if n > math.MaxUint64/10 || n*10 > math.MaxUint64-uint64(c-'0') {
			return 0, false
		}
		n = n*10 + uint64(c-'0')
	}
	if b[0] == '-' {
		return int64(-n), n <= 1<<63
	}
	return int64(n), n < 1<<63
}

// ParseFloat reads a double the way Redis does, that is with C's strtod: decimal
// or hexadecimal, with or without exponent, "inf" and "infinity" in any case. It
// refuses spaces, NaN, and what is too large for a double, or so small that zero
// would come out.
func ParseFloat(b []byte) (float64, bool) {
	num, ok := scanNumeral(b)
	if !ok {
		return 0, false
	}
	if num.inf {
		return math.Inf(num.sign()), true
	}
	text := string(b)
	if num.hex && !num.hasExp {
		text += "p0" // optional in C, not in Go
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f == 0 && !num.zero() {
		return 0, false
	}
	return f, true
}

// maxFloatText is more than the length of the longest text of a float that AppendFloat writes.
const maxFloatText = 32

// AppendFloat appends a number that is not NaN as Redis does in replies since 7.2: the fewest digits that are
// read as the same number, without an exponent where that takes few zeros.
func AppendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsInf(f, 1):
		return append(dst, "inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-inf"...)
	case f == 0:
		return append(dst, zeroText(f)...)
	}
	if math.Abs(f) <= 1<<62 && float64(int64(f)) == f {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	at := len(dst)
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64) // -d.ddde±xx
	text := dst[at:]
	e := bytes.IndexByte(text, 'e')
	digits := e
	if f < 0 {
		digits--
	}
	if digits > 1 {
		digits-- // the point
	}
	exponent := 0
	for _, c := range text[e+2:] {
		exponent = exponent*10 + int(c-'0')
	}
	isSmall := text[e+1] == '-'
	// scale is the power of ten of the last digit.
	scale := exponent - digits + 1
	if isSmall {
		scale = -exponent - digits + 1
	}
	if scale >= 0 && exponent < digits+7 || scale < 0 && (scale > -7 || exponent < 4) {
		return strconv.AppendFloat(dst[:at], f, 'f', -1, 64)
	}
	if exponent < 10 { // Go writes two digits
		dst = append(dst[:len(dst)-2], dst[len(dst)-1])
	}
	return dst
}

func zeroText(f float64) string {
	if math.Signbit(f) {
		return "-0"
	}
	return "0"
}

// ParseBound reads a number as C's strtod does where nobody asks for more than that it has
// read all: spaces in front are passed over, the text ends at a zero byte, nothing at all is
// 0, and what is too large is infinite.
func ParseBound(b []byte) (float64, bool) {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	if len(b) == 0 {
		return 0, true
	}
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	num, ok := scanNumeral(b)
	if !ok {
		return 0, false
	}
	if num.inf {
		return math.Inf(num.sign()), true
	}
	text := string(b)
	if num.hex && !num.hasExp {
		text += "p0" // optional in C, not in Go
	}
	f, err := strconv.ParseFloat(text, 64)
	return f, err == nil || math.IsInf(f, 0) || f == 0
}
