package printf

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// A Conversion is what stands between % and the letter.
type Conversion struct {
	left, plus, space, alternate, zero bool
	// Width is how many bytes the result has at least; Precision is -1 if there is none.
	Width, Precision int
}

const maxFlags = 5

// Errors of Parse, as Lua words them.
var (
	errFlags  = errors.New("invalid format (repeated flags)")
	errDigits = errors.New("invalid format (width or precision too long)")
)

// Parse reads a conversion, and returns how many bytes it takes. The letter follows it.
func Parse(format string) (c Conversion, n int, err error) {
	i := 0
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
	if i > maxFlags {
		return c, i, errFlags
	}
	c.Width, i = scanDigits(format, i)
	c.Precision = -1
	if i < len(format) && format[i] == '.' {
		c.Precision, i = scanDigits(format, i+1)
	}
	if i < len(format) && isDecimal(format[i]) {
		return c, i, errDigits
	}
	return c, i, nil
}

func isDecimal(c byte) bool { return c >= '0' && c <= '9' }

// scanDigits reads up to two digits.
func scanDigits(format string, i int) (n, end int) {
	for end = i; end < len(format) && end < i+2 && isDecimal(format[end]); end++ {
		n = n*10 + int(format[end]-'0')
	}
	return n, end
}

// AppendText appends a text as %s does, without a look at the precision, or as %c.
func (c *Conversion) AppendText(b []byte, s string) []byte { return pad(c, b, "", s, false) }

// pad appends a prefix and a body, in the width of the conversion. With zeros they fill it, if
// the flag says so.
func pad[T string | []byte](c *Conversion, b []byte, prefix string, body T, zeros bool) []byte {
	missing := c.Width - len(prefix) - len(body)
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
func (c *Conversion) sign(negative bool) string {
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

// AppendInt appends a number as %d does.
func (c *Conversion) AppendInt(b []byte, n int64) []byte {
	u := uint64(n)
	if n < 0 {
		u = -u
	}
	var digits [128]byte
	return pad(c, b, c.sign(n < 0), c.digits(digits[:0], u, 10), c.Precision < 0)
}

// AppendUint appends a number as %o, %u, %x or %X does.
func (c *Conversion) AppendUint(b []byte, letter byte, n uint64) []byte {
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
	return pad(c, b, prefix, digits, c.Precision < 0)
}

// digits appends the digits of a number, at least as many as the precision says.
func (c *Conversion) digits(b []byte, n uint64, base int) []byte {
	if n == 0 && c.Precision == 0 {
		return b
	}
	var room [64]byte
	digits := strconv.AppendUint(room[:0], n, base)
	return append(repeat(b, '0', c.Precision-len(digits)), digits...)
}

// AppendFloat appends a number as %e, %E, %f, %g or %G does.
func (c *Conversion) AppendFloat(b []byte, letter byte, f float64) []byte {
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
		return pad(c, b, sign, word, false)
	}
	precision := c.Precision
	if precision < 0 {
		precision = 6
	}
	var room [64]byte
	body := strconv.AppendFloat(room[:0], math.Abs(f), letter, precision, 64)
	if c.alternate {
		body = alternate(body, letter, precision)
	}
	return pad(c, b, sign, body, true)
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
