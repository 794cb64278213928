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
	var bands []band
	add := func(title string, height vg.Length, paint func(string, draw.Canvas), any bool) {
		if any {
			bands = append(bands, band{height, func(c draw.Canvas) { paint(title, c) }}, band{height: pictureEdge})
		}
	}
	t := clockOf(r)
	paint, any := overlay(r, &clientMeasures[0], 0, t)
	add("Throughput, operations each second", overlayHeight, paint, any)
	paint, any = overlay(r, &clientMeasures[1], 1, t)
	add("p99 of each window", overlayHeight, paint, any)
	paint, any = movedPlot(r)
	add(movedTitle, movedHeight-30, paint, any)

	picture := stacked("What clients of each contestant saw over time, while nodes came and went: throughput and 99th percentile of latency, and the keys that moved, by the least possible.",
		legend(r), bands)
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

const (
	pictureEdge  = 10 // around the picture, and between its bands
	legendHeight = 26
)

// A band is a horizontal part of a picture; without paint it is a gap.
type band struct {
	height vg.Length
	paint  func(draw.Canvas)
}

// stacked is a picture of a legend with bands below it.
func stacked(about string, legend []Entry, bands []band) Drawing {
	height := vg.Length(legendHeight + 2*pictureEdge)
	for _, b := range bands {
		height += b.height
	}
	return Drawing{Width: FullWidth + 2*pictureEdge, Height: height, About: about, Paint: func(c draw.Canvas) {
		c = draw.Crop(c, pictureEdge, -pictureEdge, pictureEdge, -pictureEdge)
		row := func(height vg.Length) draw.Canvas {
			part := c
			part.Min.Y = c.Max.Y - height
			c.Max.Y = part.Min.Y
			return part
		}
		DrawLegend(row(legendHeight), legend)
		for _, b := range bands {
			if part := row(b.height); b.paint != nil {
				b.paint(part)
			}
		}
	}}
}
