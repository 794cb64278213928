package show

import (
	"io"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// Picture writes one picture of a report as SVG, for a README: what the first steps
// moved, and how even the keys lay after each. It does not depend on times, so that
// the same settings make the same picture.
func Picture(w io.Writer, r *sim.Report) error {
	const legendHeight, edge = 26, 10
	steps := min(len(r.Steps)-1, stepsPerChart)
	height := vg.Length(legendHeight + report.HalfHeight + 2*edge)
	if steps > 0 {
		height += movedHeight + edge
	}
	about := "What each placement strategy moves in each step of the scenario, against the least possible, and how even the keys lie afterwards."
	ch := report.Drawing{Width: report.FullWidth + 2*edge, Height: height, About: about, Paint: func(c draw.Canvas) {
		c = draw.Crop(c, edge, -edge, edge, -edge)
		row := func(height vg.Length) draw.Canvas {
			part := c
			part.Min.Y = c.Max.Y - height
			c.Max.Y = part.Min.Y
			return part
		}
		report.DrawLegend(row(legendHeight), legend(r.Contenders))
		if steps > 0 {
			movedPlot(r, movedTitle, 1, steps+1, steps, row(movedHeight))
			row(edge)
		}
		bottom := row(report.HalfHeight)
		half := (bottom.Max.X - bottom.Min.X) / 2
		balancePlot(r, measures[0].title, measures[0], draw.Crop(bottom, 0, -half-edge/2, 0, 0))
		balancePlot(r, measures[1].title, measures[1], draw.Crop(bottom, half+edge/2, 0, 0, 0))
	}}
	_, err := io.WriteString(w, ch.File())
	return err
}
