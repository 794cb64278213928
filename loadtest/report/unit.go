package report

import (
	"math"
	"strconv"
)

// A unit says how a figure is written. Times are in microseconds.
type unit uint8

const (
	plain unit = iota
	count
	perSecond
	micros
	sized
	factor
	share // of 1, written in percent
)

// scale is what a number is divided by, and what stands after it then.
func (u unit) scale(x float64) (by float64, suffix string) {
	pick := func(step float64, units ...string) (float64, string) {
		by, i := 1.0, 0
		for i < len(units)-1 && math.Abs(x)/by >= step*0.9995 {
			by *= step
			i++
		}
		return by, units[i]
	}
	switch u {
	case count, perSecond:
		if math.Abs(x) < 9999.5 {
			return 1, ""
		}
		return pick(1000, "", "k", "M", "G", "T", "P")
	case micros:
		return pick(1000, " µs", " ms", " s", " ks")
	case sized:
		return pick(1024, " B", " KiB", " MiB", " GiB", " TiB", " PiB")
	case share:
		return 0.01, " %"
	default:
		return 1, ""
	}
}

// text is a number with its unit.
func (u unit) text(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return None
	}
	if (u == count || u == perSecond) && math.Abs(x) < 9999.5 && (x == math.Trunc(x) || math.Abs(x) >= 999.5) {
		return Count(int64(math.Round(x)))
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

// name is how the script of a page knows the unit.
func (u unit) name() string {
	return [...]string{plain: "plain", count: "count", perSecond: "rate", micros: "micros", sized: "bytes", factor: "factor", share: "share"}[u]
}
