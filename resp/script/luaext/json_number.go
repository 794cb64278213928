package luaext

import (
	"math"
	"strconv"
	"strings"
)

// isInvalidNumber reports whether a text begins like what C takes for a number but JSON does
// not.
func isInvalidNumber(s string) bool {
	if s[0] == '+' {
		return true
	}
	s = strings.TrimPrefix(s, "-")
	if len(s) > 1 && s[0] == '0' {
		return s[1]|0x20 == 'x' || isDigit(s[1])
	}
	return len(s) >= 3 && (strings.EqualFold(s[:3], "inf") || strings.EqualFold(s[:3], "nan"))
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// jsonSlice is how many bytes of a text are read between two steps, and the most that a number
// may have.
const jsonSlice = 1 << 16

func (d *jsonDecoder) num(rest string) {
	f, n := leadingNumber(rest[:min(len(rest), jsonSlice)])
	if n == 0 {
		d.bad("invalid number", d.pos)
		return
	}
	d.number = f
	d.take(tokenNumber, n)
}

// leadingNumber reads the number that a text begins with as C's strtod does. n is its length,
// 0 if there is none.
func leadingNumber(s string) (f float64, n int) {
	if s[0] == '-' || s[0] == '+' {
		n = 1
	}
	small := 0
	for n < len(s) && isDigit(s[n]) && n < 15 {
		small = small*10 + int(s[n]-'0')
		n++
	}
	if n > 0 && isDigit(s[n-1]) && (n == len(s) || !isDigit(s[n]) && s[n]|0x20 != 'e' && s[n] != '.' && s[n]|0x20 != 'x') {
		if f = float64(small); s[0] == '-' {
			f = -f
		}
		return f, n
	}
	text, n := numberPrefix(s)
	f, _ = strconv.ParseFloat(text, 64)
	if math.IsNaN(f) { // that of C has no payload
		f = math.Float64frombits(0x7ff8000000000000)
		if s[0] == '-' {
			f = math.Copysign(f, -1)
		}
	}
	return f, n
}

// numberPrefix returns the longest prefix of s that is a number of C, as Go reads it, and its
// length.
func numberPrefix(s string) (text string, n int) {
	digits := func(hex bool) (count int) {
		for n < len(s) && (isDigit(s[n]) || hex && s[n]|0x20 >= 'a' && s[n]|0x20 <= 'f') {
			n++
			count++
		}
		return count
	}
	sign := ""
	if s[0] == '-' || s[0] == '+' {
		n, sign = 1, s[:1]
	}
	word := func(w string) bool { return len(s) >= n+len(w) && strings.EqualFold(s[n:n+len(w)], w) }
	switch {
	case word("infinity"):
		return sign + "inf", n + 8
	case word("inf"):
		return sign + "inf", n + 3
	case word("nan"):
		n += 3
		if end := strings.IndexByte(s[n:], ')'); end > 0 && s[n] == '(' && isWord(s[n+1:n+end]) {
			n += end + 1
		}
		return "nan", n
	}
	start, hex := n, word("0x")
	if hex {
		n += 2
	}
	count := digits(hex)
	if n < len(s) && s[n] == '.' {
		n++
		if count += digits(hex); count == 0 {
			n--
		}
	}
	switch {
	case count == 0 && hex: // the zero alone
		return sign + "0", start + 1
	case count == 0:
		return "", 0
	}
	mark, exponent := byte('e'), ""
	if hex {
		mark, exponent = 'p', "p0"
	}
	mantissa := n
	if n < len(s) && s[n]|0x20 == mark {
		n++
		if n < len(s) && (s[n] == '-' || s[n] == '+') {
			n++
		}
		if digits(false) > 0 {
			return s[:n], n
		}
	}
	return s[:mantissa] + exponent, mantissa
}

func isWord(s string) bool {
	for i := range len(s) {
		if !isAlphanumeric(s[i]) && s[i] != '_' {
			return false
		}
	}
	return true
}
