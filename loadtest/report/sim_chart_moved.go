package report

import (
	"fmt"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

const (
	simMovedHeight = vg.Length(270)
	// stepsPerChart is how many steps stand side by side and can still be read.
	stepsPerChart = 12
)

// movedCharts show what each step moved against the least possible, and the ratio of
// both, so many steps at a time.
func movedCharts(r *sim.Report) []Drawing {
	var all []Drawing
	steps := min(len(r.Steps)-1, mostPageSteps)
	charts := (steps + stepsPerChart - 1) / stepsPerChart
	for k := range charts {
		// All have room for as many steps as the largest, so that bars keep their width.
		places := (steps + charts - 1) / charts
		from, to := 1+k*places, min(1+(k+1)*places, steps+1)
		if from >= to {
			break
		}
		pair := []Drawing{stepMovedChart(r, from, to, places), ratioChart(r, from, to, places)}
		if charts > 1 {
			for i := range pair {
				pair[i].Title += fmt.Sprintf(", steps %d to %d", from, to-1)
			}
		}
		all = append(all, pair...)
	}
	return all
}

const simMovedTitle = "Keys moved, and the least possible"

func stepMovedChart(r *sim.Report, from, to, places int) Drawing {
	about := fmt.Sprintf("Bars: copies of keys moved in steps %d to %d, in percent of all, by contender; a line across shows the least possible. The table below has the figures.", from, to-1)
	return Drawing{Width: FullWidth, Height: simMovedHeight, Title: simMovedTitle, About: about, Paint: func(c draw.Canvas) { stepMovedPlot(r, "", from, to, places, c) }}
}

func stepMovedPlot(r *sim.Report, title string, from, to, places int, c draw.Canvas) {
	p := NewPlot(title)
	p.Y.Label.Text = "of all copies"
	p.Y.Tick.Marker = RoundTicks{Form: InPercent}
	group := groupWidth(c, places)
	bar := group * 0.82 / vg.Length(len(r.Contenders))
	p.Y.Min, p.Y.Max = 0, Bound(0, movedTop(r))
	for j, l := range Looks(contenderNames(r.Contenders)) {
		b := Bars{Form: func(v float64) string { return Percent(v/100) + " %" }, Color: l.Color, Width: max(bar-1, 1), Offset: bar * (vg.Length(j) - vg.Length(len(r.Contenders)-1)/2)}
		for i := from; i < to; i++ {
			b.Values = append(b.Values, movedPercent(r, i, j))
		}
		p.Add(b)
	}
	least := Levels{Width: group * 0.92}
	for i := from; i < to; i++ {
		least.At = append(least.At, leastPercent(r, i))
	}
	p.Add(least)
	stepAxis(p, r, from, to, places, group)
	p.Draw(c)
}

func movedPercent(r *sim.Report, step, contender int) float64 {
	s := &r.Steps[step]
	return 100 * Share(s.Outcomes[contender].Moved.Keys, copiesAfter(r, s))
}

func leastPercent(r *sim.Report, step int) float64 {
	return 100 * Share(r.Steps[step].Least.Keys, copiesAfter(r, &r.Steps[step]))
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
		label := Wrap(fmt.Sprintf("%d: %s", i, r.Steps[i].Event), max(6, int(group/letterWidth)), lines)
		for len(label) < lines {
			label = append(label, " ")
		}
		ticks = append(ticks, plot.Tick{Value: float64(i - from), Label: strings.Join(label, "\n")})
	}
	p.X.Tick.Marker = ticks
}

func ratioChart(r *sim.Report, from, to, places int) Drawing {
	about := fmt.Sprintf("Points: keys moved divided by the least possible in steps %d to %d, by contender, on a logarithmic scale; a line marks 1.", from, to-1)
	return Drawing{Width: FullWidth, Height: simMovedHeight - 30, Title: "Keys moved ÷ the least possible", About: about, Paint: func(c draw.Canvas) { ratioPlot(r, from, to, places, c) }}
}

func ratioPlot(r *sim.Report, from, to, places int, c draw.Canvas) {
	p := NewPlot("")
	p.Y.Label.Text = "times the least"
	low, high := 0.8, 1.25
	each := func(of func(i, j int, ratio float64), from, to int) {
		for i := from; i < to; i++ {
			for j, o := range r.Steps[i].Outcomes {
				if least := r.Steps[i].LeastOf(j).Keys; least > 0 && o.Moved.Keys > 0 {
					of(i, j, float64(o.Moved.Keys)/float64(least))
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
	p.Add(Level(1))
	for j, l := range Looks(contenderNames(r.Contenders)) {
		p.Add(&plotter.Scatter{XYs: points[j], GlyphStyle: l.Point(4)})
	}
	p.Y.Min, p.Y.Max = low, high
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, FactorTicks{}
	stepAxis(p, r, from, to, places, group)
	p.Draw(c)
}
