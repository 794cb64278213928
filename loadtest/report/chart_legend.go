package report

import (
	"fmt"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Size of a sample of a line.
const (
	SwatchWidth  = vg.Length(26)
	SwatchHeight = vg.Length(12)
)

// Swatch is a contestant's line and point.
func Swatch(l Look) Drawing {
	return Drawing{Width: SwatchWidth, Height: SwatchHeight, Paint: func(c draw.Canvas) { DrawSwatch(c, l) }}
}

// DrawSwatch draws a contestant's line and point across a canvas.
func DrawSwatch(c draw.Canvas, l Look) {
	y := (c.Min.Y + c.Max.Y) / 2
	c.StrokeLine2(l.Line(3), c.Min.X, y, c.Max.X, y)
	c.DrawGlyphNoClip(l.Point(4), vg.Point{X: (c.Min.X + c.Max.X) / 2, Y: y})
}

// Decorative is a picture that says nothing beyond the text beside it.
func (p Drawing) Decorative() string {
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" width="%[1]g" height="%[2]g" aria-hidden="true">%[3]s</svg>`, p.Width, p.Height, p.draw())
}

// LineSwatch is a line without a point.
func LineSwatch(l Look) Drawing {
	return Drawing{Width: SwatchWidth, Height: SwatchHeight, Paint: func(c draw.Canvas) {
		c.StrokeLine2(l.Line(2), 0, SwatchHeight/2, SwatchWidth, SwatchHeight/2)
	}}
}

// BlockSwatch is a patch of a colour, for what has lines and areas.
func BlockSwatch(l Look) Drawing {
	return Drawing{Width: SwatchHeight, Height: SwatchHeight, Paint: func(c draw.Canvas) {
		c.FillPolygon(l.Color, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	}}
}

// LevelSwatch is the line of a level.
func LevelSwatch() Drawing {
	return Drawing{Width: SwatchWidth, Height: SwatchHeight, Paint: DrawLevelSwatch}
}

// DrawLevelSwatch draws the line of a level across a canvas.
func DrawLevelSwatch(c draw.Canvas) {
	y := (c.Min.Y + c.Max.Y) / 2
	c.StrokeLine2(LevelLine, c.Min.X, y, c.Max.X, y)
}

// An Entry is one of a legend.
type Entry struct {
	Name  string
	Paint func(draw.Canvas)
}

// DrawLegend writes entries in one line, as far as there is room.
func DrawLegend(c draw.Canvas, entries []Entry) {
	style := Inked(TitleSize, draw.XLeft, draw.YCenter)
	y := (c.Min.Y + c.Max.Y) / 2
	x := c.Min.X
	for _, e := range entries {
		end := x + SwatchWidth + 5 + style.Width(e.Name)
		if end > c.Max.X {
			continue
		}
		e.Paint(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: y - SwatchHeight/2}, Max: vg.Point{X: x + SwatchWidth, Y: y + SwatchHeight/2}}})
		c.FillText(style, vg.Point{X: x + SwatchWidth + 5, Y: y}, e.Name)
		x = end + 14
	}
}
