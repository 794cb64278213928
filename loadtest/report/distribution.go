package report

import (
	"math"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// distribution is a contestant's latency in all its rounds; nil if nobody recorded it.
func distribution(c *result.Contestant) *hdrhistogram.Histogram {
	var all *hdrhistogram.Histogram
	add := func(l *result.Latency) bool {
		h, err := decoded(l)
		if err != nil || h.TotalCount() == 0 {
			return false
		}
		if all == nil {
			all = hdrhistogram.New(1, max(h.HighestTrackableValue(), int64(10*60e6)), 3)
		}
		all.Merge(h)
		return true
	}
	for i := range c.Runs {
		run := &c.Runs[i]
		if add(&run.All.Latency) {
			continue
		}
		for j := range run.Phases {
			add(&run.Phases[j].Latency)
		}
	}
	return all
}

// percentiles are those that the table of distributions has.
var percentiles = []float64{50, 75, 90, 95, 99, 99.9, 99.99, 99.999}

const distributionHeight = vg.Length(280)

// nines is where a percentile lies on the axis: 90 at 1, 99 at 2, 99.9 at 3.
func nines(percentile float64) float64 { return -math.Log10(1 - percentile/100) }

func distributionChart(r *result.Report, all []*hdrhistogram.Histogram) (Drawing, bool) {
	looks := Looks(names(r))
	lines := make([]Series, 0, len(all))
	low, high, most := math.Inf(1), 0.0, 1.0
	for i, h := range all {
		if h == nil {
			continue
		}
		l := Series{Style: looks[i].Line(1.75)}
		// Beyond the slowest operation there is nothing to draw.
		end := math.Log10(float64(h.TotalCount()))
		for x := 0.0; x <= end; x += 0.05 {
			y := max(float64(h.ValueAtPercentile(100*(1-math.Pow(10, -x)))), 1)
			l.Points = append(l.Points, plotter.XY{X: x, Y: y})
			low, high = min(low, y), max(high, y)
		}
		most = max(most, end)
		lines = append(lines, l)
	}
	if len(lines) == 0 {
		return Drawing{}, false
	}
	return Drawing{Width: FullWidth, Height: distributionHeight, Title: "Latency by percentile",
		About: "Lines: the latency of each contestant that so many percent of its operations did not exceed, from 0 to 99.999 percent, on a logarithmic scale. The table below has the figures.",
		Paint: func(c draw.Canvas) {
			p := NewPlot("")
			for i := len(lines) - 1; i >= 0; i-- { // the first contestant on top
				p.Add(lines[i])
			}
			p.X.Min, p.X.Max = 0, most
			p.X.Tick.Marker = percentileTicks(most)
			p.X.Label.Text = "percent of the operations took no longer"
			p.Y.Min, p.Y.Max = LogBounds(low, high)
			p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, LogTicks{Form: micros.tick}
			p.Draw(c)
		}}, true
}

func percentileTicks(most float64) plot.ConstantTicks {
	ticks := plot.ConstantTicks{{Value: 0, Label: "0"}}
	for _, p := range []float64{50, 90, 99, 99.9, 99.99, 99.999, 99.9999, 99.99999} {
		if x := nines(p); x <= most {
			ticks = append(ticks, plot.Tick{Value: x, Label: strconv.FormatFloat(p, 'f', -1, 64)})
		}
	}
	return ticks
}
