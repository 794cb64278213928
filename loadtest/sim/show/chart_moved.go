package show

import (
	"fmt"
	"image/color"
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
	stepsPerChart = 12
)

// movedCharts show what each step moved against the least possible, and the ratio of
// both, so many steps at a time.
func movedCharts(r *sim.Report) []chart {
	var all []chart
	steps := min(len(r.Steps)-1, mostPageSteps)
	charts := (steps + stepsPerChart - 1) / stepsPerChart
	for k := range charts {
		// All have room for as many steps as the largest, so that bars keep their width.
		places := (steps + charts - 1) / charts
		from, to := 1+k*places, min(1+(k+1)*places, steps+1)
		if from >= to {
			break
		}
		pair := []chart{movedChart(r, from, to, places), ratioChart(r, from, to, places)}
		if charts > 1 {
			for i := range pair {
				pair[i].title += fmt.Sprintf(", steps %d to %d", from, to-1)
			}
		}
		all = append(all, pair...)
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
	p.Y.Min, p.Y.Max = 0, bound(0, movedTop(r))
	for j, l := range looks(r.Contenders) {
		b := bars{color: l.color, width: max(bar-1, 1), offset: bar * (vg.Length(j) - vg.Length(len(r.Contenders)-1)/2)}
		for i := from; i < to; i++ {
			b.values = append(b.values, movedPercent(r, i, j))
		}
		p.Add(b)
	}
	least := levels{width: group * 0.92}
	for i := from; i < to; i++ {
		least.at = append(least.at, leastPercent(r, i))
	}
	p.Add(least)
	stepAxis(p, r, from, to, places, group)
	p.Draw(c)
}

func movedPercent(r *sim.Report, step, contender int) float64 {
	s := &r.Steps[step]
	return 100 * share(s.Outcomes[contender].Moved.Keys, copiesAfter(r, s))
}

func leastPercent(r *sim.Report, step int) float64 {
	return 100 * share(r.Steps[step].Least.Keys, copiesAfter(r, &r.Steps[step]))
}

// movedTop is the highest value that the bars must show, in percent; it is the same
// for all charts of a report. Yardsticks that tower above everything else do not
// count: their bars are cut.
func movedTop(r *sim.Report) float64 {
	strategies, all := 0.0, 0.0
	for i := 1; i < len(r.Steps); i++ {
		strategies = max(strategies, leastPercent(r, i))
		for j, c := range r.Contenders {
			moved := movedPercent(r, i, j)
			all = max(all, moved)
			if !c.Yardstick {
				strategies = max(strategies, moved)
			}
		}
	}
	if all > 2*strategies && strategies > 0 {
		return strategies * 1.3 // leaves room for the numbers on cut bars
	}
	return max(all, strategies)
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

// bars are those of one contender, at 0, 1, 2 and so on. A bar that is higher than the
// axis is cut, with a gap and its value.
type bars struct {
	values        []float64
	color         color.Color
	width, offset vg.Length
}

// Plot implements [plot.Plotter].
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	label := inked(labelSize-1, draw.XCenter, draw.YBottom)
	for i, v := range b.values {
		x := toX(float64(i)) + b.offset
		block := func(from, to vg.Length) {
			c.FillPolygon(b.color, []vg.Point{{X: x - b.width/2, Y: from}, {X: x - b.width/2, Y: to}, {X: x + b.width/2, Y: to}, {X: x + b.width/2, Y: from}})
		}
		if v <= p.Y.Max {
			block(toY(0), toY(v))
			continue
		}
		top := c.Max.Y - 14
		block(toY(0), top-8)
		block(top-5, top)
		c.FillText(label, vg.Point{X: x, Y: top + 2}, percent(v/100)+" %")
	}
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
