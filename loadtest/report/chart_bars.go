package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars are those of one contestant, at 0, 1, 2 and so on. A bar that is higher than the
// axis is cut, with a gap and its value.
type Bars struct {
	Values        []float64
	Color         color.Color
	Width, Offset vg.Length
	// Form writes the value of a bar that is cut.
	Form func(float64) string
}

// Plot implements [plot.Plotter].
func (b Bars) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	label := Inked(LabelSize-1, draw.XCenter, draw.YBottom)
	for i, v := range b.Values {
		x := toX(float64(i)) + b.Offset
		block := func(from, to vg.Length) {
			c.FillPolygon(b.Color, []vg.Point{{X: x - b.Width/2, Y: from}, {X: x - b.Width/2, Y: to}, {X: x + b.Width/2, Y: to}, {X: x + b.Width/2, Y: from}})
		}
		if v <= p.Y.Max {
			block(toY(0), toY(v))
			continue
		}
		top := c.Max.Y - 14
		block(toY(0), top-8)
		block(top-5, top)
		c.FillText(label, vg.Point{X: x, Y: top + 2}, b.Form(v))
	}
}

// Levels are lines across the groups of a bar chart, one for each group.
type Levels struct {
	At    []float64
	Width vg.Length
}

// Plot implements [plot.Plotter].
func (l Levels) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	for i, at := range l.At {
		x, y := toX(float64(i)), toY(at)
		c.StrokeLine2(LevelLine, x-l.Width/2, y, x+l.Width/2, y)
	}
}

// A Level is one line across all of a chart.
type Level float64

// Plot implements [plot.Plotter].
func (l Level) Plot(c draw.Canvas, p *plot.Plot) {
	_, toY := p.Transforms(&c)
	y := toY(float64(l))
	c.StrokeLine2(LevelLine, c.Min.X, y, c.Max.X, y)
}

// LevelLine is how levels are drawn.
var LevelLine = draw.LineStyle{Color: Ink, Width: 1.5}
