package report

import (
	"math"

	"gonum.org/v1/plot"
)

// FactorTicks are ticks of a logarithmic scale around 1.
type FactorTicks struct{}

// Ticks implements [plot.Ticker].
func (FactorTicks) Ticks(low, high float64) []plot.Tick {
	factors := []float64{1, 2, 5}
	switch {
	case high/low < 3:
		factors = []float64{0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3}
	case high/low > 1000:
		factors = []float64{1}
	}
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, f := range factors {
			if len(factors) > 3 && power != 0 {
				continue
			}
			if v := f * math.Pow(10, power); v >= low && v <= high {
				ticks = append(ticks, plot.Tick{Value: v, Label: Plain(v) + " ×"})
			}
		}
	}
	return ticks
}

// LogTicks are ticks of a logarithmic scale: 1, 10, 100 and so on, with 2 and 5 between
// them if there is room.
type LogTicks struct{ Form func(float64) string }

// Ticks implements [plot.Ticker].
func (t LogTicks) Ticks(low, high float64) []plot.Tick {
	factors := []float64{1}
	if high/low < 500 {
		factors = []float64{1, 2, 5}
	}
	var ticks []plot.Tick
	for power := math.Floor(math.Log10(low)); power <= math.Ceil(math.Log10(high)); power++ {
		for _, f := range factors {
			if v := f * math.Pow(10, power); v >= low*0.999 && v <= high*1.001 {
				ticks = append(ticks, plot.Tick{Value: v, Label: t.Form(v)})
			}
		}
	}
	return ticks
}

// LogBounds are the ends of a logarithmic axis that must show all from low to high: at 1, 2
// or 5 times a power of ten.
func LogBounds(low, high float64) (from, to float64) {
	if !(low > 0) || math.IsInf(low, 0) || !(high >= low) || math.IsInf(high, 0) {
		return 1, 10
	}
	power := math.Pow(10, math.Floor(math.Log10(low)))
	for _, f := range []float64{1, 2, 5} {
		if power*f <= low*1.0001 {
			from = power * f
		}
	}
	power = math.Pow(10, math.Ceil(math.Log10(high)))
	to = power
	for _, f := range []float64{0.5, 0.2} {
		if power*f >= high*0.9999 {
			to = power * f
		}
	}
	if to < from*2 {
		to = from * 10
	}
	return from, to
}
