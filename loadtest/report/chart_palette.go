package report

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A Look tells a contestant's bars, lines and points from those of the others, by
// colour, and by form for those who cannot rely on colours.
type Look struct {
	Color  color.NRGBA
	glyph  draw.GlyphDrawer
	dashes []vg.Length
}

// The colours are those of Okabe and Ito, which differ for every kind of colour
// vision (Color Universal Design, 2008), without black and yellow, which vanish on a
// dark and a light page, and with grey as the last.
var (
	blue       = color.NRGBA{0x00, 0x72, 0xB2, 0xFF}
	orange     = color.NRGBA{0xE6, 0x9F, 0x00, 0xFF}
	green      = color.NRGBA{0x00, 0x9E, 0x73, 0xFF}
	purple     = color.NRGBA{0xCC, 0x79, 0xA7, 0xFF}
	sky        = color.NRGBA{0x56, 0xB4, 0xE9, 0xFF}
	vermillion = color.NRGBA{0xD5, 0x5E, 0x00, 0xFF}
	grey       = color.NRGBA{0x80, 0x80, 0x80, 0xFF}
)

// Ink is the colour of text and axes. It stands for the text colour of the page,
// whichever that is: see [Picture.Inline].
var Ink = color.NRGBA{0x01, 0x02, 0x03, 0xFF}

var gridLines = color.NRGBA{0x80, 0x80, 0x80, 0x50}

var allLooks = []Look{
	{Color: blue, glyph: draw.CircleGlyph{}},
	{Color: orange, glyph: draw.BoxGlyph{}},
	{Color: green, glyph: draw.PyramidGlyph{}},
	{Color: purple, glyph: polygon{0, 1, 1, 0, 0, -1, -1, 0}},
	{Color: sky, glyph: polygon{-0.9, 0.6, 0.9, 0.6, 0, -1}},
	{Color: vermillion, glyph: polygon{-1, 0.4, 1, 0.4, 1, -0.4, -1, -0.4}},
	{Color: grey, glyph: polygon{-0.4, 1, 0.4, 1, 0.4, -1, -0.4, -1}},
}

// A polygon is a filled glyph, as pairs of x and y from -1 to 1.
type polygon []float64

// DrawGlyph implements [draw.GlyphDrawer].
func (g polygon) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var corners []vg.Point
	for i := 0; i+1 < len(g); i += 2 {
		corners = append(corners, vg.Point{X: at.X + style.Radius*vg.Length(g[i]), Y: at.Y + style.Radius*vg.Length(g[i+1])})
	}
	c.FillPolygon(style.Color, corners)
}

// own are the looks that a contestant has whichever others there are, unless another
// of its kind comes before it.
var own = map[string]int{"buckets": 0, "ketama": 1, "vnode": 2, "mod": 3, "rendezvous": 4}

// Looks are by the names of contestants. More contestants than colours differ by their dashes.
func Looks(names []string) []Look {
	taken := map[int]bool{}
	at := make([]int, len(names))
	for i, name := range names {
		at[i] = -1
		kind, _, _ := strings.Cut(name, ":")
		if wish, ok := own[kind]; ok && !taken[wish] {
			at[i], taken[wish] = wish, true
		}
	}
	next := len(allLooks) - 1 // the last are nobody's own
	all := make([]Look, len(names))
	for i := range names {
		if at[i] < 0 {
			for tries := 0; taken[next%len(allLooks)] && tries < len(allLooks); tries++ {
				next++
			}
			at[i] = next
			taken[next%len(allLooks)] = true
			next++
		}
		all[i] = allLooks[at[i]%len(allLooks)]
		if round := at[i] / len(allLooks); round > 1 {
			all[i].dashes = []vg.Length{vg.Length(1 + 2*round), 2}
		}
	}
	return all
}

// Line is a line of a width.
func (l Look) Line(width vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: l.Color, Width: width, Dashes: l.dashes}
}

// Point is a point of a radius.
func (l Look) Point(radius vg.Length) draw.GlyphStyle {
	return draw.GlyphStyle{Color: l.Color, Radius: radius, Shape: l.glyph}
}

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// Nth is the look of one of several things that have no names of their own, such as nodes,
// from 0 on.
func Nth(i int) Look {
	i = max(i, 0)
	l := allLooks[i%len(allLooks)]
	if round := i / len(allLooks); round > 0 {
		l.dashes = []vg.Length{vg.Length(1 + 2*round), 2}
		// Where there are no lines, shades tell them apart.
		shade := [...]int{100, 65, 135}[round%3]
		l.Color.R, l.Color.G, l.Color.B = shaded(l.Color.R, shade), shaded(l.Color.G, shade), shaded(l.Color.B, shade)
	}
	return l
}

// shaded is a part of a colour in percent of itself, towards white above 100.
func shaded(part uint8, percent int) uint8 {
	if percent <= 100 {
		return uint8(int(part) * percent / 100)
	}
	return uint8(int(part) + (255-int(part))*(percent-100)/100)
}
