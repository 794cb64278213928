package chart

import (
	"math"

	"gonum.org/v1/plot"

	"github.com/ringside-kv/ringside/loadtest/human"
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
				ticks = append(ticks, plot.Tick{Value: v, Label: human.Plain(v) + " ×"})
			}
		}
	}
	return ticks
}
