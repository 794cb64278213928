package report

import (
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// Picture writes one picture of a report as SVG, for a README: throughput and p99 of each
// contestant over time with events marked, and what each event moved against the least
// possible. Parts of which nothing is known are left out.
func Picture(w io.Writer, r *result.Report) error {
	const legendHeight, edge = 26, 10
	type part struct {
		title  string
		height vg.Length
		paint  func(title string, c draw.Canvas)
	}
	var parts []part
	height := vg.Length(legendHeight + 2*edge)
	add := func(title string, h vg.Length, paint func(string, draw.Canvas), any bool) {
		if any {
			parts = append(parts, part{title, h, paint})
			height += h + edge
		}
	}
	t := clockOf(r)
	paint, any := overlay(r, &clientMeasures[0], 0, t)
	add("Throughput, operations each second", overlayHeight, paint, any)
	paint, any = overlay(r, &clientMeasures[1], 1, t)
	add("p99 of each window", overlayHeight, paint, any)
	paint, any = movedPlot(r)
	add(movedTitle, movedHeight-30, paint, any)

	picture := Drawing{Width: FullWidth + 2*edge, Height: height,
		About: "What clients of each contestant saw over time, while nodes came and went: throughput and 99th percentile of latency, and the keys that moved, by the least possible.",
		Paint: func(c draw.Canvas) {
			c = draw.Crop(c, edge, -edge, edge, -edge)
			row := func(height vg.Length) draw.Canvas {
				part := c
				part.Min.Y = c.Max.Y - height
				c.Max.Y = part.Min.Y
				return part
			}
			DrawLegend(row(legendHeight), legend(r))
			for _, p := range parts {
				p.paint(p.title, row(p.height))
				row(edge)
			}
		}}
	_, err := io.WriteString(w, picture.File())
	return err
}

// legend has the contestants.
func legend(r *result.Report) []Entry {
	var all []Entry
	for i, l := range Looks(names(r)) {
		all = append(all, Entry{Name: Clip(Printable(r.Contestants[i].Name), headWidth), Paint: func(c draw.Canvas) { DrawSwatch(c, l) }})
	}
	return all
}
