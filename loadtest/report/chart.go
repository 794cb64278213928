package report

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"strings"

	"golang.org/x/image/font"
	"gonum.org/v1/plot"
	plotfont "gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Drawing is one that is not drawn yet. A length of 1 is a pixel on a page
// that shows it in its own size.
type Drawing struct {
	Width, Height vg.Length
	Title         string // stands outside of the picture
	About         string // for those who do not see it
	Paint         func(c draw.Canvas)
}

// sans has the widths of Arial and Helvetica, so that labels lie where they should
// with the fonts that readers have.
func sans(size vg.Length) plotfont.Font {
	return plotfont.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

// Inked is a style of text in ink, the colour of text and axes.
func Inked(size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: Ink, Font: sans(size), XAlign: x, YAlign: y, Handler: plot.DefaultTextHandler}
}

// Sizes of pictures. Two of half the width stand side by side.
const (
	HalfWidth  = vg.Length(384)
	HalfHeight = vg.Length(230)
	FullWidth  = vg.Length(780)
)

// Sizes of letters.
const (
	LabelSize = vg.Length(10)
	TitleSize = vg.Length(12)
)

// NewPlot is an empty plot in the style of all charts.
func NewPlot(title string) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil
	p.Title.Text = title
	p.Title.TextStyle = Inked(TitleSize, draw.XCenter, draw.YTop)
	p.Title.TextStyle.Font.Weight = font.WeightBold
	p.Title.Padding = 6
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Color, axis.Width = Ink, 0.75
		axis.Padding = 0
		axis.Tick.LineStyle = draw.LineStyle{Color: Ink, Width: 0.75}
		axis.Tick.Length = 3
		axis.Tick.Label.Color, axis.Tick.Label.Font = Ink, sans(LabelSize)
		axis.Label.TextStyle.Color, axis.Label.TextStyle.Font = Ink, sans(LabelSize)
		axis.Label.Padding = 2
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal = draw.LineStyle{Color: gridLines, Width: 0.75}
	p.Add(grid)
	return p
}

// RoundTicks are ticks at 1, 2 or 5 times a power of ten, about five of them.
type RoundTicks struct{ Form func(float64) string }

// Ticks implements [plot.Ticker].
func (t RoundTicks) Ticks(low, high float64) []plot.Tick {
	step := roundStep(high - low)
	var ticks []plot.Tick
	for i := math.Ceil(low/step - 1e-6); i*step <= high+step*1e-6; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: t.Form(i * step)})
	}
	return ticks
}

func roundStep(span float64) float64 {
	if !(span > 0) || math.IsInf(span, 0) {
		return 1
	}
	step := math.Pow(10, math.Floor(math.Log10(span/4)))
	for _, factor := range []float64{5, 2} {
		if span/(step*factor) >= 4 {
			return step * factor
		}
	}
	return step
}

// Bound is the end of an axis that begins at low and must show a value.
func Bound(low, value float64) float64 {
	if !(value > low) || math.IsInf(value, 0) {
		return low + 1
	}
	step := roundStep(value - low)
	return low + math.Ceil((value-low)/step-1e-6)*step
}

// InPercent is a tick that is a number of percent.
func InPercent(x float64) string { return Plain(x) + " %" }

const fontStyle = "font-family:Liberation Sans;font-variant:normal;font-weight:normal;font-style:normal;"
const boldStyle = "font-family:Liberation Sans;font-variant:normal;font-weight:bold;font-style:normal;"

// draw draws the picture as the content of an svg element. Fonts are left to the
// element, and what is drawn in ink takes the colour of the text around it. Images, which
// the canvas calls by a wrong name, fill their rectangles.
func (p Drawing) draw() string {
	canvas := vgsvg.NewWith(vgsvg.UseWH(p.Width, p.Height))
	p.Paint(draw.NewCanvas(canvas, p.Width, p.Height))
	var b bytes.Buffer
	if _, err := canvas.WriteTo(&b); err != nil {
		panic("chart: writing to memory failed: " + err.Error())
	}
	s := b.String()
	if at := strings.Index(s, "<svg"); at >= 0 {
		s = s[at:]
		s = s[strings.Index(s, ">")+1:]
	}
	s = strings.TrimSuffix(strings.TrimSpace(s), "</svg>")
	return strings.NewReplacer(fontStyle, "", boldStyle, "font-weight:bold;", hex(Ink), "currentColor",
		"<image ", `<image preserveAspectRatio="none" `, "xlink:href", "href", "data:image/jpg", "data:image/png").Replace(s)
}

// Inline is the picture for a page of HTML.
func (p Drawing) Inline() string {
	return fmt.Sprintf(`<svg viewBox="0 0 %g %g" role="img" aria-label="%s"><title>%[3]s</title>%s</svg>`,
		p.Width, p.Height, html.EscapeString(Printable(p.About)), p.draw())
}

// File is the picture as a file of its own, on white.
func (p Drawing) File() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%g" height="%g" viewBox="0 0 %[1]g %[2]g" role="img" font-family="Helvetica,Arial,Liberation Sans,sans-serif" color="#1f2328">
<title>%[3]s</title>
<rect width="100%%" height="100%%" fill="#ffffff"/>
%[4]s</svg>
`, p.Width, p.Height, html.EscapeString(Printable(p.About)), p.draw())
}
