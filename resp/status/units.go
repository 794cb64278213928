package status

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/jedib0t/go-pretty/v6/text"
)

// none stands where there is nothing to tell.
const none = "–"

// A scale is units that grow by a factor.
type scale struct {
	factor float64
	units  []string
}

var (
	counts = scale{1000, []string{"", "k", "M", "G", "T", "P", "E"}}
	sizes  = scale{1024, []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"}}
)

// unit is the largest in which a number is at least 1, as it is written.
func (s scale) unit(n float64) int {
	unit := 0
	for unit < len(s.units)-1 && math.Abs(n) >= s.factor*0.9995 {
		n /= s.factor
		unit++
	}
	return unit
}

// in writes a number in a unit, without the unit.
func (s scale) in(n float64, unit int) string {
	n /= math.Pow(s.factor, float64(unit))
	switch a := math.Abs(n); {
	case unit == 0 || a >= 99.95 || a == 0:
		return strconv.FormatFloat(n, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(n, 'f', 1, 64)
	default:
		return strconv.FormatFloat(n, 'f', 2, 64)
	}
}

func (s scale) String(n float64) string {
	unit := s.unit(n)
	return s.in(n, unit) + s.units[unit]
}

func count(n int64) string {
	if n > -10_000 && n < 10_000 {
		return strconv.FormatInt(n, 10)
	}
	return counts.String(float64(n))
}

func size(n int64) string { return sizes.String(float64(n)) }

// of is how much of a whole is done, both in the unit of the whole.
func (s scale) of(done, whole int64) string {
	unit := s.unit(float64(whole))
	return s.in(float64(done), unit) + "/" + s.in(float64(whole), unit) + s.units[unit]
}

// percent writes a share of 1 as a number of percent, without the sign.
func percent(share float64) string {
	switch {
	case !(share >= 0 && share <= 1.01):
		return none
	case share == 0:
		return "0"
	case share > 0 && share < 0.0005:
		return "<0.1"
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64)
}

// span writes a length of time in its largest unit, or its largest two.
func span(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < 0:
		return "0s"
	case d < 2*time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

func seconds(s float64) string {
	if !(s < 1e9) {
		return none
	}
	return span(time.Duration(s * float64(time.Second)))
}

func plural(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return strconv.Itoa(n) + " " + word + "s"
}

// printable replaces what would break a line or steer a terminal: a report is what
// some server has sent.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
}

func width(s string) int { return text.StringWidthWithoutEscSequences(s) }

// clip shortens a text to so many cells, with an ellipsis where something is gone.
func clip(s string, cells int) string {
	if width(s) <= cells {
		return s
	}
	used := 0
	for i, r := range s {
		if used += width(string(r)); used > max(cells-1, 0) {
			return s[:i] + "…"
		}
	}
	return s
}

// pad fills a text up to so many cells.
func pad(s string, cells int) string { return s + strings.Repeat(" ", max(cells-width(s), 0)) }

// wrap breaks a text between words into lines of at most so many cells; a longer word
// is clipped.
func wrap(s string, cells int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(printable(s)) {
		word = clip(word, cells)
		switch {
		case line == "":
			line = word
		case width(line)+1+width(word) <= cells:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}
