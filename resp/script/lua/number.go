package lua

import (
	"math"
	"strconv"
	"strings"
)

// FormatNumber returns a number as tostring does: with printf's "%.14g".
func FormatNumber(f float64) string {
	if i := int64(f); float64(i) == f && i > -1e14 && i < 1e14 && (i != 0 || !math.Signbit(f)) {
		return strconv.FormatInt(i, 10)
	}
	return FormatPrecise(f, 14)
}

// FormatPrecise returns a number as printf's "%g" with some digits.
func FormatPrecise(f float64, digits int) string {
	switch {
	case math.IsNaN(f) && math.Signbit(f):
		return "-nan"
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	}
	return strconv.FormatFloat(f, 'g', digits, 64)
}

const spaces = " \t\n\v\f\r"

// ParseNumber reads a number as C's strtod does, hexadecimal, "inf" and "nan" included, with
// white space around it.
func ParseNumber(s string) (float64, bool) {
	s = cutZero(s)
	if len(s) > 0 && len(s) < 16 {
		if f, ok := parseDigits(s); ok {
			return f, true
		}
	}
	s = strings.TrimRight(strings.TrimLeft(s, spaces), spaces)
	negative := false
	if s != "" && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	f, ok := parseUnsigned(s)
	if negative {
		f = -f
	}
	return f, ok
}

// parseDigits reads a number of decimal digits alone.
func parseDigits(s string) (float64, bool) {
	n := 0
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return float64(n), true
}

func parseUnsigned(s string) (float64, bool) {
	if s == "" {
		return 0, false
	}
	switch c := s[0] | 0x20; {
	case c == 'i':
		return math.Inf(1), strings.EqualFold(s, "inf") || strings.EqualFold(s, "infinity")
	case c == 'n':
		return positiveNaN, strings.EqualFold(s, "nan") || len(s) > 4 && strings.EqualFold(s[:4], "nan(") &&
			s[len(s)-1] == ')' && strings.Trim(s[4:len(s)-1], alphanumeric) == ""
	case s[0] != '.' && (s[0] < '0' || s[0] > '9') || strings.IndexByte(s, '_') >= 0:
		return 0, false
	case len(s) > 1 && s[1]|0x20 == 'x' && !strings.ContainsAny(s, "pP"):
		s += "p0"
	}
	f, err := strconv.ParseFloat(s, 64)
	if e, ok := err.(*strconv.NumError); ok && e.Err == strconv.ErrRange {
		err = nil
	}
	return f, err == nil
}

const alphanumeric = "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// Integer converts a number as C on amd64 does: what does not fit becomes the least integer.
func Integer(f float64) int {
	if f >= -(1<<63) && f < 1<<63 {
		return int(f)
	}
	return math.MinInt64
}

// toInt32 converts a number to an int as C on amd64 does.
func toInt32(f float64) int32 {
	if f > -(1<<31)-1 && f < 1<<31 {
		return int32(f)
	}
	return math.MinInt32
}

// Unsigned converts a number to an unsigned long as C on amd64 does.
func Unsigned(f float64) uint64 {
	if f >= 1<<63 {
		return uint64(Integer(f-1<<63)) ^ 1<<63
	}
	return uint64(Integer(f))
}

// ToNumber returns the number that v is or that its text says.
func ToNumber(v Value) (float64, bool) {
	switch {
	case v.IsNumber():
		return v.Float(), true
	case v.IsString():
		return ParseNumber(v.Text())
	}
	return 0, false
}

// ToText returns the text that a string is, or a number in tostring's format.
func ToText(v Value) (string, bool) {
	switch {
	case v.IsString():
		return v.Text(), true
	case v.IsNumber():
		return FormatNumber(v.Float()), true
	}
	return "", false
}

// modulo is the operator %.
func modulo(a, b float64) float64 { return a - float64(math.Floor(a/b)*b) }

// arith computes an arithmetic operator.
func arith(op opcode, a, b float64) float64 {
	switch op {
	case opAdd:
		return a + b
	case opSub:
		return a - b
	case opMul:
		return a * b
	case opDiv:
		return a / b
	case opMod:
		return modulo(a, b)
	case opPow:
		return power(a, b)
	}
	return -a
}

// power is the operator ^.
func power(a, b float64) float64 {
	if b == 2 {
		return a * a
	}
	return pow(a, b)
}
