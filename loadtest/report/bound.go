package report

import (
	"math"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/workload"
)

// A suffix of a number, and what it multiplies it by.
type suffix struct {
	text  string
	times float64
}

// suffixes are what may stand after a number, the longer before what they end with.
func (u unit) suffixes() []suffix {
	thousands := []suffix{{"k", 1e3}, {"K", 1e3}, {"m", 1e6}, {"M", 1e6}, {"g", 1e9}, {"G", 1e9}}
	switch u {
	case micros:
		return []suffix{{"us", 1}, {"µs", 1}, {"ms", 1e3}, {"s", 1e6}, {"m", 60e6}}
	case sized:
		return append([]suffix{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}}, thousands...)
	case count, perSecond:
		return append([]suffix{{"/s", 1}}, thousands...)
	case share:
		return []suffix{{"%", 0.01}}
	}
	return nil
}

// parse reads a bound in this unit.
func (u unit) parse(w workload.Word) (float64, error) {
	number, times, found := w.Text, 1.0, false
	for _, s := range u.suffixes() {
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
		return 0, w.Fault(ErrAssert, "%.40q is not %s", w.Text, u.example())
	case u == micros && !found && x != 0:
		return 0, w.Fault(ErrAssert, "%.40q has no unit: us, ms, s or m", w.Text)
	}
	return x * times, nil
}

// example says how a bound is written.
func (u unit) example() string {
	switch u {
	case micros:
		return "a time, as in 500us, 5ms or 2s"
	case sized:
		return "a number of bytes, as in 64MiB"
	case perSecond:
		return "a number each second, as in 10000 or 10k"
	case count:
		return "a number, as in 0 or 10k"
	case share:
		return "a share, as in 0.5 or 50%"
	}
	return "a number, as in 1.2"
}

// exact is a number with its unit and enough digits to see why it is beyond a bound.
func (u unit) exact(x float64) string {
	if u == count || u == perSecond {
		return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	}
	by, suffix := u.scale(x)
	return strconv.FormatFloat(x/by, 'g', 6, 64) + suffix
}
