package lua

import (
	"math"
	"strconv"
	"strings"
)

// A conversion is one of string.format, as C's printf has them.
type conversion struct {
	left, plus, space, alternate, zero bool
	width, precision                   int // precision is -1 if there is none
}

const maxFlags = 5

// scanConversion reads what is between % and the letter, and returns where that is.
func scanConversion(t *Thread, format string, i int) (c conversion, letter int) {
	from := i
flags:
	for ; i < len(format); i++ {
		switch format[i] {
		case '-':
			c.left = true
		case '+':
			c.plus = true
		case ' ':
			c.space = true
		case '#':
			c.alternate = true
		case '0':
			c.zero = true
		default:
			break flags
		}
	}
	if i-from > maxFlags {
		t.Errorf("invalid format (repeated flags)")
	}
	c.width, i = scanDigits(format, i)
	c.precision = -1
	if i < len(format) && format[i] == '.' {
		c.precision, i = scanDigits(format, i+1)
	}
	if i < len(format) && isDecimal(format[i]) {
		t.Errorf("invalid format (width or precision too long)")
	}
	return c, i
}

func isDecimal(c byte) bool { return c >= '0' && c <= '9' }

// scanDigits reads up to two digits.
func scanDigits(format string, i int) (n, end int) {
	for end = i; end < len(format) && end < i+2 && isDecimal(format[end]); end++ {
		n = n*10 + int(format[end]-'0')
	}
	return n, end
}

func stringFormat(t *Thread) int {
	format := t.CheckString(1)
	var room [128]byte
	b := t.bufferIn(room[:0])
	var scratch [128]byte
	for arg := 1; ; {
		i := strings.IndexByte(format, '%')
		if i < 0 {
			break
		}
		b.Append(format[:i])
		if format = format[i+1:]; format != "" && format[0] == '%' {
			b.AppendByte('%')
			format = format[1:]
			continue
		}
		if arg++; arg > t.NArgs() {
			t.ArgError(arg, "no value")
		}
		c, at := scanConversion(t, format, 0)
		var letter byte // a text of C ends with a zero byte
		if at < len(format) {
			letter = format[at]
			at++
		}
		format = format[at:]
		item := scratch[:0]
		switch letter {
		case 'c':
			item = c.pad(item, "", string([]byte{byte(toInt32(t.CheckNumber(arg)))}), false)
			if end := strings.IndexByte(stringOf(item), 0); end >= 0 {
				item = item[:end]
			}
		case 'd', 'i':
			item = c.signed(item, int64(Integer(t.CheckNumber(arg))))
		case 'o', 'u', 'x', 'X':
			item = c.unsigned(item, letter, Unsigned(t.CheckNumber(arg)))
		case 'e', 'E', 'f', 'g', 'G':
			item = c.float(item, letter, t.CheckNumber(arg))
		case 'q':
			quote(&b, t.CheckString(arg))
			continue
		case 's':
			s := t.CheckString(arg)
			if c.precision < 0 && (len(s) >= 100 || c.width == 0 && strings.IndexByte(s, 0) < 0) {
				b.Append(s)
				continue
			}
			if end := strings.IndexByte(s, 0); end >= 0 {
				s = s[:end]
			}
			if c.precision >= 0 {
				s = s[:min(len(s), c.precision)]
			}
			item = c.pad(item, "", s, false)
		default:
			t.Errorf("invalid option '%%%s' to 'format'", strings.TrimRight(string([]byte{letter}), "\x00"))
		}
		b.Append(stringOf(item))
	}
	b.Append(format)
	b.Push()
	return 1
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

// pad appends a prefix and a body, in the width of the conversion. With zeros they fill it, if
// the flag says so.
func (c *conversion) pad(b []byte, prefix, body string, zeros bool) []byte {
	missing := c.width - len(prefix) - len(body)
	zeros = zeros && c.zero && !c.left
	if !c.left && !zeros {
		b = repeat(b, ' ', missing)
	}
	b = append(b, prefix...)
	if zeros {
		b = repeat(b, '0', missing)
	}
	b = append(b, body...)
	if c.left {
		b = repeat(b, ' ', missing)
	}
	return b
}

func repeat(b []byte, c byte, n int) []byte {
	for ; n > 0; n-- {
		b = append(b, c)
	}
	return b
}

// sign returns what stands before a number.
func (c *conversion) sign(negative bool) string {
	switch {
	case negative:
		return "-"
	case c.plus:
		return "+"
	case c.space:
		return " "
	}
	return ""
}

func (c *conversion) signed(b []byte, n int64) []byte {
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	var digits [128]byte
	return c.pad(b, c.sign(n < 0), stringOf(c.digits(digits[:0], u, 10)), c.precision < 0)
}

func (c *conversion) unsigned(b []byte, letter byte, n uint64) []byte {
	var room [128]byte
	prefix, base := "", 10
	switch letter {
	case 'o':
		base = 8
	case 'x', 'X':
		base = 16
	}
	digits := c.digits(room[:0], n, base)
	switch {
	case letter == 'X':
		for i, d := range digits {
			if d >= 'a' {
				digits[i] = d - 0x20
			}
		}
		if c.alternate && n != 0 {
			prefix = "0X"
		}
	case letter == 'x' && c.alternate && n != 0:
		prefix = "0x"
	case letter == 'o' && c.alternate && (len(digits) == 0 || digits[0] != '0'):
		digits = append(digits, 0)
		copy(digits[1:], digits)
		digits[0] = '0'
	}
	return c.pad(b, prefix, stringOf(digits), c.precision < 0)
}

// digits appends the digits of a number, at least as many as the precision says.
func (c *conversion) digits(b []byte, n uint64, base int) []byte {
	if n == 0 && c.precision == 0 {
		return b
	}
	var room [64]byte
	digits := strconv.AppendUint(room[:0], n, base)
	return append(repeat(b, '0', c.precision-len(digits)), digits...)
}

func (c *conversion) float(b []byte, letter byte, f float64) []byte {
	sign := c.sign(math.Signbit(f))
	upper := letter < 'a'
	if math.IsNaN(f) || math.IsInf(f, 0) {
		word := "inf"
		if math.IsNaN(f) {
			word = "nan"
		}
		if upper {
			word = strings.ToUpper(word)
		}
		return c.pad(b, sign, word, false)
	}
	precision := c.precision
	if precision < 0 {
		precision = 6
	}
	var room [64]byte
	body := strconv.AppendFloat(room[:0], math.Abs(f), letter, precision, 64)
	if c.alternate {
		body = alternate(body, letter, precision)
	}
	return c.pad(b, sign, stringOf(body), true)
}

// alternate adds what the flag # asks for: a point, and for %g the zeros at the end.
func alternate(body []byte, letter byte, precision int) []byte {
	text := string(body)
	mantissa, exponent := text, ""
	if e := strings.IndexAny(text, "eE"); e >= 0 {
		mantissa, exponent = text[:e], text[e:]
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += "."
	}
	if letter|0x20 == 'g' {
		digits := len(strings.TrimLeft(strings.Replace(mantissa, ".", "", 1), "0"))
		if digits == 0 { // zero itself, whose first digit counts
			digits = len(mantissa) - 1
		}
		mantissa += strings.Repeat("0", max(max(precision, 1)-digits, 0))
	}
	return append(append(body[:0], mantissa...), exponent...)
}

// quote appends a string as Lua reads it.
func quote(b *Buffer, s string) {
	b.AppendByte('"')
	from := 0
	for i := range len(s) {
		escape := ""
		switch s[i] {
		case '"':
			escape = `\"`
		case '\\':
			escape = `\\`
		case '\n':
			escape = "\\\n"
		case '\r':
			escape = `\r`
		case 0:
			escape = `\000`
		default:
			if i-from < copySlice {
				continue
			}
			escape = s[i : i+1]
		}
		b.Append(s[from:i])
		b.Append(escape)
		from = i + 1
	}
	b.Append(s[from:])
	b.AppendByte('"')
}
