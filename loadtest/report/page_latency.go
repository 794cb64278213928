package report

import (
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// percentiles are those that the table of distributions has.
var percentiles = []float64{50, 75, 90, 95, 99, 99.9, 99.99, 99.999}

// distribution is a contestant's latency in all its rounds; nil if no run has a histogram.
func distribution(c *result.Contestant) *hdrhistogram.Histogram {
	var all *hdrhistogram.Histogram
	add := func(l *result.Latency) bool {
		h := decoded(l)
		if h == nil || h.TotalCount() == 0 {
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
		known := add(&run.All.Latency)
		for j := 0; j < len(run.Phases) && !known; j++ {
			add(&run.Phases[j].Latency)
		}
	}
	return all
}

// distributionSection has latency by percentile on the axis of HdrHistogram: 90 % at 1, 99 % at 2,
// 99.9 % at 3.
func distributionSection(r *result.Report) section {
	all := make([]*hdrhistogram.Histogram, len(r.Contestants))
	p := panel{Lines: linesOf(names(r), func(i int) (x, y values) {
		if all[i] = distribution(&r.Contestants[i]); all[i] == nil {
			return nil, nil
		}
		// Beyond the slowest operation there is nothing to draw.
		for at, end := 0.0, math.Log10(float64(all[i].TotalCount())); at <= end; at += 0.05 {
			x = append(x, at)
			y = append(y, max(float64(all[i].ValueAtPercentile(100*(1-math.Pow(10, -at)))), 1))
		}
		return x, y
	})}
	if len(p.Lines) == 0 {
		return section{}
	}
	chart := &chart{Axis: "nines", Unit: string(micros), Log: true, Label: "percent of the operations took no longer", Panels: []panel{p}}
	return loadTestSection("latency", pagePart{Chart: chart}, tablePart("", distributionGrid(r, all)))
}
