package report

import (
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

// A Series is a line with gaps: a point whose Y is NaN ends it, and the next begins another.
type Series struct {
	Points plotter.XYs
	Style  draw.LineStyle
}

// Plot implements [plot.Plotter].
func (s Series) Plot(c draw.Canvas, p *plot.Plot) {
	for from := 0; from < len(s.Points); {
		to := from
		for to < len(s.Points) && !math.IsNaN(s.Points[to].Y) {
			to++
		}
		if to-from == 1 { // a line of one point would not be seen
			s.dot(c, p, s.Points[from])
		} else if to > from {
			(&plotter.Line{XYs: s.Points[from:to], LineStyle: s.Style}).Plot(c, p)
		}
		from = to + 1
	}
}

func (s Series) dot(c draw.Canvas, p *plot.Plot, at plotter.XY) {
	toX, toY := p.Transforms(&c)
	style := s.Style
	style.Dashes = nil
	c.StrokeLine2(style, toX(at.X)-1, toY(at.Y), toX(at.X)+1, toY(at.Y))
}

// Thin leaves at most so many points of a line, or 2 if that is less: of each stretch its
// lowest and its highest, in their order, so that neither a peak nor a dip gets lost. A
// stretch without any value stays a gap.
func Thin(points plotter.XYs, most int) plotter.XYs {
	if len(points) <= max(2, most) {
		return points
	}
	stretches := max(1, most/2)
	thin := make(plotter.XYs, 0, 2*stretches)
	for k := range stretches {
		from, to := k*len(points)/stretches, (k+1)*len(points)/stretches
		low, high := -1, -1
		for i := from; i < to; i++ {
			if math.IsNaN(points[i].Y) {
				continue
			}
			if low < 0 || points[i].Y < points[low].Y {
				low = i
			}
			if high < 0 || points[i].Y > points[high].Y {
				high = i
			}
		}
		switch {
		case low < 0:
			thin = append(thin, points[from])
		case low == high:
			thin = append(thin, points[low])
		default:
			thin = append(thin, points[min(low, high)], points[max(low, high)])
		}
	}
	return thin
}
