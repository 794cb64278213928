package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A unit says how a figure is written. Its name is how figures.json and the script of a page know it.
type unit string

// The units of load tests, of which assertions have bounds.
const (
	plain     unit = "plain"
	count     unit = "count"
	perSecond unit = "rate"
	micros    unit = "micros"
	sized     unit = "bytes"
	factor    unit = "factor"
	share     unit = "share" // of 1, written in percent
)

// Units of simulations: copies are counts that are shown as a share of all copies of keys, percentages
// have their sign.
const (
	copies     unit = "copies"
	percentage unit = "percentage"
)

// plainly are the units in which a number is written whatever the others in its row: those of simulations, and
// time, which is in milliseconds.
var plainly = map[unit]func(float64) string{
	"number":   Count[float64],
	"size":     Size[float64],
	"ratio":    Ratio,
	"percent":  Percent,
	copies:     Percent,
	percentage: func(x float64) string { return Percent(x) + " %" },
	"time":     func(ms float64) string { return seconds(ms / 1000) },
	"nanos":    Nanos,
	"duration": func(x float64) string { return Duration(time.Duration(x)) },
}

// A suffix of a number, and what it multiplies it by.
type suffix struct {
	text  string
	times float64
}

var thousands = []suffix{{"k", 1e3}, {"K", 1e3}, {"m", 1e6}, {"M", 1e6}, {"g", 1e9}, {"G", 1e9}}

// bounds say how a bound is written in a unit: with an example, and with what may stand after the
// number, the longer before what they end with.
var bounds = map[unit]struct {
	example  string
	suffixes []suffix
}{
	plain:  {"a number, as in 1.2", nil},
	factor: {"a number, as in 1.2", nil},
	micros: {"a time, as in 500us, 5ms or 2s", []suffix{{"us", 1}, {"µs", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}}},
	sized: {"a number of bytes, as in 64MiB",
		append([]suffix{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}}, thousands...)},
	perSecond: {"a number each second, as in 10000 or 10k", append([]suffix{{"/s", 1}}, thousands...)},
	count:     {"a number, as in 0 or 10k", append([]suffix{{"/s", 1}}, thousands...)},
	share:     {"a share, as in 0.5 or 50%", []suffix{{"%", 0.01}}},
}

// parse reads a bound in this unit.
func (u unit) parse(w workload.Word) (float64, error) {
	number, times, found := w.Text, 1.0, false
	for _, s := range bounds[u].suffixes {
		if rest, ok := strings.CutSuffix(number, s.text); ok {
			number, times, found = strings.TrimRight(rest, " "), s.times, true
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	switch {
	case w.Text == "":
		return 0, w.Fault(ErrAssert, "the bound is missing")
	case err != nil || isNone(x) || x < 0 || strings.ContainsAny(number, "xXpP_"):
		return 0, w.Fault(ErrAssert, "%.40q is not %s", w.Text, bounds[u].example)
	case u == micros && !found && x != 0:
		return 0, w.Fault(ErrAssert, "%.40q has no unit: us, ms, s or m", w.Text)
	}
	return x * times, nil
}

// exact is a number with its unit and enough digits to see why it is beyond a bound.
func (u unit) exact(x float64) string {
	if u == count || u == perSecond {
		return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	}
	by, suffix := u.scale(x)
	return strconv.FormatFloat(x/by, 'g', 6, 64) + suffix
}

// scale is what a number is divided by, and what stands after it then.
func (u unit) scale(x float64) (by float64, suffix string) {
	switch u {
	case count, perSecond:
		if math.Abs(x) >= 9999.5 {
			return scale(x, 1000, []string{"", "k", "M", "G", "T", "P"})
		}
	case micros:
		return scale(x, 1000, []string{" µs", " ms", " s", " ks"})
	case sized:
		return scale(x, 1024, []string{" B", " KiB", " MiB", " GiB", " TiB", " PiB"})
	case share:
		return 0.01, " %"
	}
	return 1, ""
}

// text is a number with its unit.
func (u unit) text(x float64) string {
	if form := plainly[u]; form != nil {
		return form(x)
	}
	if isNone(x) {
		return None
	}
	if (u == count || u == perSecond) && math.Abs(x) < 9999.5 && (x == math.Trunc(x) || math.Abs(x) >= 999.5) {
		return Count(math.Round(x))
	}
	by, suffix := u.scale(x)
	return u.number(x/by) + suffix
}

// number is one that has been scaled.
func (u unit) number(x float64) string {
	if (u == count || u == sized) && x == math.Trunc(x) && math.Abs(x) < 10_000 {
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return Significant(x)
}

// spread is a range of numbers in the unit that the text of another has.
func (u unit) spread(of, low, high float64) string {
	by, _ := u.scale(of)
	return u.number(low/by) + ".." + u.number(high/by)
}
