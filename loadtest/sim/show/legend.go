package show

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

const (
	swatchWidth  = vg.Length(26)
	swatchHeight = vg.Length(12)
)

// swatch is a contender's line and point.
func swatch(l look) chart {
	return chart{width: swatchWidth, height: swatchHeight, paint: func(c draw.Canvas) { drawSwatch(c, l) }}
}

func drawSwatch(c draw.Canvas, l look) {
	y := (c.Min.Y + c.Max.Y) / 2
	c.StrokeLine2(l.line(3), c.Min.X, y, c.Max.X, y)
	c.DrawGlyphNoClip(l.point(4), vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: y})
}

func leastSwatch() chart {
	return chart{width: swatchWidth, height: swatchHeight, paint: func(c draw.Canvas) {
		c.StrokeLine2(leastLine, c.Min.X, swatchHeight/2, c.Max.X, swatchHeight/2)
	}}
}

// decorative is a chart that says nothing beyond the text beside it.
func (ch chart) decorative() string {
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" width="%[1]g" height="%[2]g" aria-hidden="true">%[3]s</svg>`, ch.width, ch.height, ch.draw())
}

// drawLegend writes the contenders in one line, as far as there is room, and the
// least possible.
func drawLegend(c draw.Canvas, contenders []sim.Contender) {
	style := inked(titleSize, draw.XLeft, draw.YCenter)
	y := (c.Min.Y + c.Max.Y) / 2
	x := c.Min.X
	entry := func(name string, paint func(draw.Canvas)) {
		box := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y - swatchHeight/2}, Max: vg.Point{X: x + swatchWidth, Y: y + swatchHeight/2}}}
		end := x + swatchWidth + 5 + style.Width(name)
		if end > c.Max.X {
			return
		}
		paint(box)
		c.FillText(style, vg.Point{X: x + swatchWidth + 5, Y: y}, name)
		x = end + 14
	}
	for j, l := range looks(contenders) {
		name := shortName(contenders[j])
		if contenders[j].Yardstick {
			name += " (yardstick)"
		}
		entry(name, func(box draw.Canvas) { drawSwatch(box, l) })
	}
	entry("least possible", func(box draw.Canvas) { c.StrokeLine2(leastLine, box.Min.X, y, box.Max.X, y) })
}
