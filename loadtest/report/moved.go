package report

import (
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/result"
)

const (
	movedHeight = vg.Length(230)
	movedTitle  = "Keys moved ÷ the least possible"
	// mostMoved is how many events stand side by side and can still be read.
	mostMoved = 16
)

// movedPlot has a bar for each event and contestant; any tells whether there is one.
func movedPlot(r *result.Report) (paint func(title string, c draw.Canvas), any bool) {
	f := figureNamed(eventFigures, "moved/least")
	all := events(r)
	all = all[:min(len(all), mostMoved)]
	looks := Looks(names(r))
	values := make([][]float64, len(r.Contestants))
	highest := 1.0
	for i := range r.Contestants {
		for _, e := range all {
			v := f.in(&r.Contestants[i], e)
			values[i] = append(values[i], v.at)
			highest = max(highest, v.at)
			any = any || v.rounds > 0
		}
	}
	return func(title string, c draw.Canvas) {
		p := NewPlot(title)
		p.Y.Min, p.Y.Max = 0, Bound(0, highest)
		p.Y.Tick.Marker = RoundTicks{Form: func(x float64) string { return Plain(x) + " ×" }}
		const axisWidth = 56
		group := (c.Max.X - c.Min.X - axisWidth) / vg.Length(len(all))
		bar := min(group*0.82/vg.Length(max(1, len(values))), 60)
		for i := range values {
			p.Add(Bars{Values: values[i], Color: looks[i].Color, Width: max(bar-1, 1), Form: Plain,
				Offset: bar * (vg.Length(i) - vg.Length(len(values)-1)/2)})
		}
		p.Add(Level(1))
		p.X.Min, p.X.Max = -0.5, float64(len(all))-0.5
		p.X.Tick.Length = 0
		var ticks plot.ConstantTicks
		for i, e := range all {
			ticks = append(ticks, plot.Tick{Value: float64(i), Label: Clip(Printable(e.label()), 12)})
		}
		p.X.Tick.Marker = ticks
		p.Draw(c)
	}, any
}

func movedChart(r *result.Report) (Drawing, bool) {
	paint, any := movedPlot(r)
	return Drawing{Width: FullWidth, Height: movedHeight, Title: movedTitle,
		About: "Bars: keys moved divided by the least possible, by event and contestant; a line marks 1. The tables below have the figures.",
		Paint: func(c draw.Canvas) { paint("", c) }}, any
}

func figureNamed(figures []figure, key string) *figure {
	for i := range figures {
		if figures[i].key == key {
			return &figures[i]
		}
	}
	panic("report: no figure " + key)
}
