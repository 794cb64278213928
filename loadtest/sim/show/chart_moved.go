package show

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

const (
	fullWidth   = vg.Length(780)
	movedHeight = vg.Length(270)
	// stepsPerChart is how many steps stand side by side and can still be read.
	stepsPerChart = 10
)

// movedCharts show what each step moved against the least possible, and the ratio of
// both, so many steps at a time.
func movedCharts(r *sim.Report) []chart {
	var all []chart
	steps := len(r.Steps) - 1
	for from := 1; from <= steps; from += stepsPerChart {
		to := min(from+stepsPerChart, steps+1)
		// The last of several has room for as many steps as the others: bars keep
		// their width.
		places := min(steps, stepsPerChart)
		all = append(all, movedChart(r, from, to, places), ratioChart(r, from, to, places))
	}
	return all
}

const movedTitle = "Keys moved, and the least possible"

func movedChart(r *sim.Report, from, to, places int) chart {
	about := fmt.Sprintf("Bars: copies of keys moved in steps %d to %d, in percent of all, by contender; a line across shows the least possible. The table below has the figures.", from, to-1)
	return chart{fullWidth, movedHeight, movedTitle, about, func(c draw.Canvas) { movedPlot(r, "", from, to, places, c) }}
}

func movedPlot(r *sim.Report, title string, from, to, places int, c draw.Canvas) {
	p := newPlot(title)
	p.Y.Label.Text = "of all copies"
	p.Y.Tick.Marker = roundTicks{inPercent}
	group := groupWidth(c, places)
	bar := group * 0.82 / vg.Length(len(r.Contenders))
	highest := 0.0
	for j, l := range looks(r.Contenders) {
		values := make(plotter.Values, to-from)
		for i := range values {
			step := &r.Steps[from+i]
			values[i] = 100 * share(step.Outcomes[j].Moved.Keys, copiesAfter(r, step))
		}
		bars := &plotter.BarChart{Values: values, Width: max(bar-1, 1), Color: l.color, Offset: bar * (vg.Length(j) - vg.Length(len(r.Contenders)-1)/2)}
		p.Add(bars)
	}
	least := levels{width: group * 0.92}
	for i := from; i < to; i++ {
		step := &r.Steps[i]
		least.at = append(least.at, 100*share(step.Least.Keys, copiesAfter(r, step)))
	}
	p.Add(least)
	for i := 1; i < len(r.Steps); i++ { // one scale for all charts
		step := &r.Steps[i]
		highest = max(highest, 100*share(step.Least.Keys, copiesAfter(r, step)))
		for _, o := range step.Outcomes {
			highest = max(highest, 100*share(o.Moved.Keys, copiesAfter(r, step)))
		}
	}
	p.Y.Min, p.Y.Max = 0, bound(0, highest)
	stepAxis(p, r, from, to, places, group)
	p.Draw(c)
}

// groupWidth is the room that one step has.
func groupWidth(c draw.Canvas, places int) vg.Length {
	const axisWidth = 56
	return (c.Max.X - c.Min.X - axisWidth) / vg.Length(places)
}

// stepAxis labels the x axis with the steps and what happened in them.
func stepAxis(p *plot.Plot, r *sim.Report, from, to, places int, group vg.Length) {
	p.X.Min, p.X.Max = -0.5, float64(places)-0.5
	p.X.Tick.Length = 0
	const letterWidth, lines = 5.4, 3
	var ticks plot.ConstantTicks
	for i := from; i < to; i++ {
		label := wrap(fmt.Sprintf("%d: %s", i, r.Steps[i].Event), max(6, int(group/letterWidth)), lines)
		for len(label) < lines {
			label = append(label, " ")
		}
		ticks = append(ticks, plot.Tick{Value: float64(i - from), Label: strings.Join(label, "\n")})
	}
	p.X.Tick.Marker = ticks
}

// levels are lines across the groups of a bar chart, one for each group.
type levels struct {
	at    []float64
	width vg.Length
}

// Plot implements [plot.Plotter].
func (l levels) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	for i, at := range l.at {
		x, y := toX(float64(i)), toY(at)
		c.StrokeLine2(leastLine, x-l.width/2, y, x+l.width/2, y)
	}
}

// A level is one line across all of a chart.
type level float64

// Plot implements [plot.Plotter].
func (l level) Plot(c draw.Canvas, p *plot.Plot) {
	_, toY := p.Transforms(&c)
	y := toY(float64(l))
	c.StrokeLine2(leastLine, c.Min.X, y, c.Max.X, y)
}

// leastLine is how the least possible is drawn.
var leastLine = draw.LineStyle{Color: ink, Width: 1.5}

func ratioChart(r *sim.Report, from, to, places int) chart {
	about := fmt.Sprintf("Points: keys moved divided by the least possible in steps %d to %d, by contender, on a logarithmic scale; a line marks 1.", from, to-1)
	return chart{fullWidth, movedHeight - 30, "Keys moved ÷ the least possible", about, func(c draw.Canvas) { ratioPlot(r, from, to, places, c) }}
}

func ratioPlot(r *sim.Report, from, to, places int, c draw.Canvas) {
	p := newPlot("")
	p.Y.Label.Text = "times the least"
	low, high := 0.8, 1.25
	each := func(of func(i, j int, ratio float64), from, to int) {
		for i := from; i < to; i++ {
			for j, o := range r.Steps[i].Outcomes {
				if r.Steps[i].Least.Keys > 0 && o.Moved.Keys > 0 {
					of(i, j, float64(o.Moved.Keys)/float64(r.Steps[i].Least.Keys))
				}
			}
		}
	}
	each(func(_, _ int, ratio float64) { low, high = min(low, ratio/1.1), max(high, ratio*1.1) }, 1, len(r.Steps))
	group := groupWidth(c, places)
	apart := 0.7 / float64(max(1, len(r.Contenders)-1))
	if len(r.Contenders) == 1 {
		apart = 0
	}
	points := make([]plotter.XYs, len(r.Contenders))
	each(func(i, j int, ratio float64) {
		points[j] = append(points[j], plotter.XY{X: float64(i-from) + (float64(j)-float64(len(r.Contenders)-1)/2)*apart, Y: ratio})
	}, from, to)
	p.Add(level(1))
	for j, l := range looks(r.Contenders) {
		p.Add(&plotter.Scatter{XYs: points[j], GlyphStyle: l.point(4)})
	}
	p.Y.Min, p.Y.Max = low, high
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, factorTicks{}
	stepAxis(p, r, from, to, places, group)
	p.Draw(c)
}

// factorTicks are ticks of a logarithmic scale around 1.
type factorTicks struct{}

// Ticks implements [plot.Ticker].
func (factorTicks) Ticks(low, high float64) []plot.Tick {
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
				ticks = append(ticks, plot.Tick{Value: v, Label: plain(v) + " ×"})
			}
		}
	}
	return ticks
}
