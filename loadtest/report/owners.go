package report

import (
	"fmt"
	"image"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/result"
)

const ownersHeight = vg.Length(230)

// ownersChart shows who had which piece of the tokens, from the first at the top to the
// last, over time; nil if nobody knows.
func ownersChart(r *result.Report, c *result.Contestant, t clock, index map[string]int, backups bool) *Drawing {
	run := shown(c)
	if run == nil || len(run.Layouts) == 0 {
		return nil
	}
	what := "primary"
	if backups {
		what = "first backup"
	}
	return &Drawing{Width: HalfWidth, Height: ownersHeight, Title: shortName(c),
		About: fmt.Sprintf("Map: the %s of each piece of the tokens of %s over time, coloured by node, with events marked. It changed %d times.", what, c.Name, len(run.Layouts)-1),
		Paint: func(canvas draw.Canvas) {
			p := NewPlot("")
			MarkRoom(p)
			p.Add(owners{run.Layouts, t, index, backups})
			p.Add(Marks{List: t.starts(run), Color: Ink})
			t.axis(p)
			p.Y.Min, p.Y.Max = 0, 1
			p.Y.Tick.Marker = plot.ConstantTicks{}
			p.Y.Label.Text = "tokens"
			p.Draw(canvas)
		}}
}

// starts are the marks of events without how long they went on.
func (c clock) starts(run *result.Run) []Mark {
	marks := c.marks(run)
	for i := range marks {
		marks[i].Until = 0
	}
	return marks
}

// owners is a map of nodes over tokens and time.
type owners struct {
	layouts []result.Layout
	clock   clock
	index   map[string]int
	backups bool
}

// Plot implements [plot.Plotter].
func (o owners) Plot(c draw.Canvas, p *plot.Plot) {
	size := c.Max.Sub(c.Min)
	// Two pixels for each of the page are enough for any screen.
	c.DrawImage(c.Rectangle, o.image(2*int(size.X), 2*int(size.Y)))
}

// image has a column for each moment and a row for each piece.
func (o owners) image(width, height int) *image.Paletted {
	palette := color.Palette{color.NRGBA{}}
	for i := range min(len(o.index), 255) {
		palette = append(palette, Nth(i).Color)
	}
	img := image.NewPaletted(image.Rect(0, 0, width, height), palette)
	at := 0
	for x := range width {
		now := (float64(x) + 0.5) / float64(width) * o.clock.until
		for at+1 < len(o.layouts) && o.layouts[at+1].AtMS <= now {
			at++
		}
		layout := &o.layouts[at]
		if layout.AtMS > now {
			continue // nobody knows yet
		}
		cells := layout.Primary
		if o.backups {
			cells = layout.Backup
		}
		if len(cells) == 0 {
			continue
		}
		for y := range height {
			node := cells[y*len(cells)/height]
			if node < 0 || node >= len(layout.Nodes) {
				continue
			}
			if k := o.index[layout.Nodes[node]] + 1; k < len(palette) {
				img.SetColorIndex(x, y, uint8(k)) //nolint:gosec // a palette has at most 256 colours
			}
		}
	}
	return img
}
