package report

import (
	"fmt"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// Bounds of what one line shows.
const (
	mostLinePoints = 400
	mostGlyphs     = 60
)

// A balanceMeasure is one way to say how even the load is.
type balanceMeasure struct {
	title string
	even  float64 // its value when all is even, where its axis begins
	form  func(float64) string
	of    func(b *sim.Balance) float64
}

var balanceMeasures = []balanceMeasure{
	{"Fullest node by keys, max ÷ mean", 1, Plain, func(b *sim.Balance) float64 { return b.Keys.Max }},
	{"Unevenness by keys (CV)", 0, InPercent, func(b *sim.Balance) float64 { return 100 * b.Keys.CV }},
	{"Busiest node by zipf requests, max ÷ mean", 1, Plain, func(b *sim.Balance) float64 { return b.Zipf.Max }},
	{"Busiest node by hotspot requests, max ÷ mean", 1, Plain, func(b *sim.Balance) float64 { return b.Hotspot.Max }},
}

// balanceCharts show each measure after each step.
func balanceCharts(r *sim.Report) []Drawing {
	var all []Drawing
	for _, m := range balanceMeasures {
		all = append(all, Drawing{Width: HalfWidth, Height: HalfHeight, Title: m.title,
			About: fmt.Sprintf("Lines: %s after each step, by contender. The table below has the figures.", m.title),
			Paint: func(c draw.Canvas) { balancePlot(r, "", m, c) }})
	}
	return all
}

func balancePlot(r *sim.Report, title string, m balanceMeasure, c draw.Canvas) {
	p := NewPlot(title)
	highest := m.even
	all := Looks(contenderNames(r.Contenders))
	every := (len(r.Steps) + mostLinePoints - 1) / mostLinePoints
	for j := len(all) - 1; j >= 0; j-- { // the first contender on top
		var points plotter.XYs
		for i := range r.Steps {
			v := m.of(&r.Steps[i].Outcomes[j].Balance)
			highest = max(highest, v)
			if i%every == 0 || i == len(r.Steps)-1 {
				points = append(points, plotter.XY{X: float64(i), Y: v})
			}
		}
		p.Add(&plotter.Line{XYs: points, LineStyle: all[j].Line(1.5)})
		if len(points) <= mostGlyphs {
			p.Add(&plotter.Scatter{XYs: points, GlyphStyle: all[j].Point(vg.Length(3.2 - 0.02*float64(len(points))))})
		}
	}
	p.Y.Min, p.Y.Max = m.even, Bound(m.even, highest)
	p.Y.Tick.Marker = RoundTicks{Form: m.form}
	p.X.Label.Text = "step"
	p.X.Min, p.X.Max = 0, max(1, float64(len(r.Steps)-1))
	p.X.Padding = 6
	p.X.Tick.Marker = stepTicks(len(r.Steps))
	p.Draw(c)
}

// stepTicks number the steps, as many as find room.
func stepTicks(steps int) plot.ConstantTicks {
	every := 1
	for _, n := range []int{2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000} {
		if steps/every <= 16 {
			break
		}
		every = n
	}
	var ticks plot.ConstantTicks
	for i := 0; i < steps; i += every {
		ticks = append(ticks, plot.Tick{Value: float64(i), Label: strconv.Itoa(i)})
	}
	return ticks
}
