package report

import (
	"fmt"
	"math"
	"slices"
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
	case isNone(x):
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

// scale is what a number is divided by for the largest unit that leaves it at least 1, and that unit.
func scale(x, factor float64, units []string) (by float64, unit string) {
	by = 1
	for len(units) > 1 && math.Abs(x)/by >= factor*0.9995 {
		by, units = by*factor, units[1:]
	}
	return by, units[0]
}

// Scaled formats a number with three significant digits and the largest unit that
// leaves it at least 1.
func Scaled(x, factor float64, units ...string) string {
	if isNone(x) {
		return None
	}
	by, unit := scale(x, factor, units)
	return Significant(x/by) + unit
}

// countable are the types of counts and of their sums.
type countable interface{ int | int64 | float64 }

// Count formats a count: 1,234 or 12.3k.
func Count[N countable](n N) string {
	switch {
	case n < 0 || n >= 10_000:
		return Scaled(float64(n), 1000, "", "k", "M", "G", "T", "P", "E")
	case n >= 1000:
		return fmt.Sprintf("%d,%03d", int64(n)/1000, int64(n)%1000)
	default:
		return strconv.FormatInt(int64(n), 10)
	}
}

// Size formats a number of bytes in powers of 1024.
func Size[N countable](n N) string {
	if n > -1024 && n < 1024 {
		return strconv.FormatInt(int64(n), 10) + " B"
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
	return Count(n) + " " + word + "s"
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

// nonEmpty are the texts that are not empty.
func nonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(text string) bool { return text == "" })
}
