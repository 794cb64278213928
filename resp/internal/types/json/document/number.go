package document

import (
	"math"
	"strconv"
	"strings"
)

// number returns the value of a number's text, which is well-formed; ok is false if it is too large. Integers of 64
// bits, with a sign or without, stay integers.
func number(text string) (v Value, ok bool) {
	if !strings.ContainsAny(text, ".eE") && text != "-0" {
		if _, err := strconv.ParseInt(text, 10, 64); err == nil {
			return Value{kind: Integer, text: text}, true
		}
		if _, err := strconv.ParseUint(text, 10, 64); err == nil {
			return Value{kind: Integer, text: text}, true
		}
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil && math.IsInf(f, 0) {
		return v, false
	}
	return Value{kind: Double, text: string(appendDouble(nil, f))}, true
}

// appendDouble appends the shortest text of a finite number from which the number can be read again: in digits if its
// point lies within 16 digits, or up to five zeros before them, else with an exponent. There is always a point or an exponent.
func appendDouble(dst []byte, f float64) []byte {
	if math.Signbit(f) {
		dst = append(dst, '-')
		f = -f
	}
	if f == 0 {
		return append(dst, "0.0"...)
	}
	var buf [32]byte
	text := string(strconv.AppendFloat(buf[:0], f, 'e', -1, 64)) // d.ddde±xx
	mantissa, exponent, _ := strings.Cut(text, "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	e, _ := strconv.Atoi(exponent)
	switch point := e + 1; { // digits before the point
	case len(digits) <= point && point <= 16:
		dst = append(dst, digits...)
		for range point - len(digits) {
			dst = append(dst, '0')
		}
		return append(dst, ".0"...)
	case 0 < point && point <= 16:
		dst = append(dst, digits[:point]...)
		return append(append(dst, '.'), digits[point:]...)
	case -5 < point && point <= 0:
		dst = append(dst, "0."...)
		for range -point {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	dst = append(dst, mantissa...)
	return strconv.AppendInt(append(dst, 'e'), int64(e), 10)
}
