package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// None replaces a number that does not exist.
const None = "–"

// Significant formats a number with three significant digits and no exponent.
func Significant(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return None
	case a == 0:
		return "0"
	case a >= 99.95:
		return strconv.FormatFloat(x, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(x, 'f', 1, 64)
	default:
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
}

// Scaled formats a number with three significant digits and the largest unit that
// leaves it at least 1.
func Scaled(x, factor float64, units ...string) string {
	unit := 0
	for unit < len(units)-1 && math.Abs(x) >= factor*0.9995 {
		x /= factor
		unit++
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return None
	}
	return Significant(x) + units[unit]
}

// Count formats a count: 1,234 or 12.3k.
func Count(n int64) string {
	switch {
	case n < 0 || n >= 10_000:
		return Scaled(float64(n), 1000, "", "k", "M", "G", "T", "P", "E")
	case n >= 1000:
		return strconv.FormatInt(n/1000, 10) + "," + strconv.FormatInt(1000+n%1000, 10)[1:]
	default:
		return strconv.FormatInt(n, 10)
	}
}

// Size formats a number of bytes in powers of 1024.
func Size(n int64) string {
	if n > -1024 && n < 1024 {
		return strconv.FormatInt(n, 10) + " B"
	}
	return Scaled(float64(n), 1024, " B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB")
}

// Percent formats a share of 1 in percent, without the sign.
func Percent(share float64) string {
	if share > 0 && share < 0.00005 {
		return "<0.01"
	}
	return Ratio(share * 100)
}

// Ratio formats a factor.
func Ratio(x float64) string {
	if math.Abs(x) >= 10_000 {
		return Scaled(x, 1000, "", "k", "M", "G", "T", "P", "E")
	}
	return Significant(x)
}

// Nanos formats a time in nanoseconds with a suitable unit.
func Nanos(ns float64) string { return Scaled(ns, 1000, " ns", " µs", " ms", " s") }

// Duration formats a time, in hours if it is very long.
func Duration(d time.Duration) string {
	switch {
	case d >= 100*time.Hour:
		return Scaled(d.Hours(), 1000, " h", "k h", "M h")
	case d >= 100*time.Second:
		return strings.TrimSuffix(d.Round(time.Second).String(), "0s")
	default:
		return Nanos(float64(d))
	}
}

// Share returns part ÷ whole, or 0 if whole is 0.
func Share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Plain formats the number at a tick of an axis, without trailing zeros.
func Plain(x float64) string {
	if math.Abs(x) < 1e-9 {
		return "0"
	}
	s := fmt.Sprintf("%.3f", x)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

// Plural returns "1 node", "2 nodes".
func Plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return Count(int64(n)) + " " + word + "s"
}

// Printable replaces characters that would break a line or a picture.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}
