package report

import (
	"io"

	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// SimulationPicture writes one picture of a report as SVG, for a README: what the first steps
// moved, and how even the keys lay after each. It does not depend on times, so that
// the same settings make the same picture.
func SimulationPicture(w io.Writer, r *sim.Report) error {
	var bands []band
	if steps := min(len(r.Steps)-1, stepsPerChart); steps > 0 {
		bands = append(bands, band{simMovedHeight, func(c draw.Canvas) { stepMovedPlot(r, simMovedTitle, 1, steps+1, steps, c) }}, band{height: pictureEdge})
	}
	bands = append(bands, band{HalfHeight, func(c draw.Canvas) {
		half := (c.Max.X - c.Min.X) / 2
		balancePlot(r, balanceMeasures[0].title, balanceMeasures[0], draw.Crop(c, 0, -half-pictureEdge/2, 0, 0))
		balancePlot(r, balanceMeasures[1].title, balanceMeasures[1], draw.Crop(c, half+pictureEdge/2, 0, 0, 0))
	}})
	ch := stacked("What each placement strategy moves in each step of the scenario, against the least possible, and how even the keys lie afterwards.",
		simLegend(r.Contenders), bands)
	_, err := io.WriteString(w, ch.File())
	return err
}
