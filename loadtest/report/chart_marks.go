package report

import (
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Mark is something that happened at an X, and went on until another.
type Mark struct {
	At, Until float64 // Until is not above At if it did not go on
	Label     string
}

// Marks are lines across a chart, with their labels above it as far as there is room, and
// bands for as long as they went on. They want [MarkRoom] above the chart.
type Marks struct {
	List  []Mark
	Color color.NRGBA
	// Bare leaves bands and labels out.
	Bare bool
}

// markLabel is the size of labels of marks.
const markLabel = LabelSize - 1

// MarkRoom makes room for labels above a plot.
func MarkRoom(p *plot.Plot) {
	if p.Title.Text == "" {
		p.Title.Text = " "
		p.Title.TextStyle.Font.Size = markLabel
		p.Title.Padding = 3
		return
	}
	p.Title.Padding = markLabel + 8
}

// Plot implements [plot.Plotter].
func (m Marks) Plot(c draw.Canvas, p *plot.Plot) {
	toX, _ := p.Transforms(&c)
	band := m.Color
	band.A = 0x1c
	line := draw.LineStyle{Color: m.Color, Width: 0.75, Dashes: []vg.Length{3, 2}}
	label := Inked(markLabel, draw.XCenter, draw.YBottom)
	free := c.Min.X
	for _, mark := range m.List {
		if mark.At < p.X.Min || mark.At > p.X.Max {
			continue
		}
		x := toX(mark.At)
		if until := min(mark.Until, p.X.Max); until > mark.At && !m.Bare {
			to := toX(until)
			c.FillPolygon(band, []vg.Point{{X: x, Y: c.Min.Y}, {X: x, Y: c.Max.Y}, {X: to, Y: c.Max.Y}, {X: to, Y: c.Min.Y}})
		}
		c.StrokeLine2(line, x, c.Min.Y, x, c.Max.Y)
		width := label.Width(mark.Label)
		if at := min(max(x-width/2, c.Min.X), c.Max.X-width); at >= free && !m.Bare {
			c.FillText(label, vg.Point{X: at + width/2, Y: c.Max.Y + 1}, mark.Label)
			free = at + width + 4
		}
	}
}
