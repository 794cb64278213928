package wire

import "bytes"

// A numeral is a number as C's strtod and strtold accept it, taken apart. The
// exponent is one of 10 in decimal and of 2 in hexadecimal.
type numeral struct {
	neg      bool
	inf      bool // infinity; nothing below is set
	hex      bool
	hasExp   bool
	whole    []byte // digits before the point
	fraction []byte // digits after it
	exp      int    // beyond ±maxExp only that much
}

// maxExp is where reading an exponent stops: with digits of a length that anybody
// writes, it is already beyond every floating-point number.
const maxExp = 1 << 24

// sign is -1 or 1.
func (n *numeral) sign() int {
	if n.neg {
		return -1
	}
	return 1
}

// zero reports whether n is written with no digit but 0.
func (n *numeral) zero() bool {
	return !n.inf && len(bytes.Trim(n.whole, "0")) == 0 && len(bytes.Trim(n.fraction, "0")) == 0
}

// scanNumeral takes b apart, or reports false if not all of it is one number. It
// keeps no copy of the digits.
func scanNumeral(b []byte) (n numeral, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		n.neg = b[0] == '-'
		b = b[1:]
	}
	if bytes.EqualFold(b, []byte("inf")) || bytes.EqualFold(b, []byte("infinity")) {
		n.inf = true
		return n, true
	}
	isDigit, mark := isDecimal, byte('e')
	if len(b) > 2 && b[0] == '0' && b[1]|0x20 == 'x' {
		n.hex = true
		isDigit, mark = isHex, 'p'
		b = b[2:]
	}
	n.whole, b = cutDigits(b, isDigit)
	if len(b) > 0 && b[0] == '.' {
		n.fraction, b = cutDigits(b[1:], isDigit)
	}
	if len(n.whole)+len(n.fraction) == 0 {
		return n, false
	}
	if len(b) > 0 && b[0]|0x20 == mark {
		n.hasExp = true
		if n.exp, b, ok = cutExponent(b[1:]); !ok {
			return n, false
		}
	}
	return n, len(b) == 0
}

// cutExponent reads a decimal number with or without sign.
func cutExponent(b []byte) (exp int, rest []byte, ok bool) {
	neg := false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		b = b[1:]
	}
	digits, rest := cutDigits(b, isDecimal)
	for _, c := range digits {
		exp = min(exp*10+int(c-'0'), maxExp)
	}
	if neg {
		exp = -exp
	}
	return exp, rest, len(digits) > 0
}

// cutDigits splits b where its digits end.
func cutDigits(b []byte, isDigit func(byte) bool) (digits, rest []byte) {
	n := 0
	for n < len(b) && isDigit(b[n]) {
		n++
	}
	return b[:n], b[n:]
}

func isDecimal(c byte) bool { return c >= '0' && c <= '9' }

func isHex(c byte) bool { return isDecimal(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }
