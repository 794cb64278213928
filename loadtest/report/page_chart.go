package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A chart has panels of one scale. All charts over time are zoomed together.
type chart struct {
	// Axis is what runs along x: time (ms), nines (percentiles), step, or percent.
	Axis   string  `json:"axis"`
	Until  float64 `json:"until,omitempty"` // end of the axis of x; 0: of the lines
	Unit   string  `json:"unit"`
	Log    bool    `json:"log,omitempty"`
	Even   float64 `json:"even,omitempty"` // where the axis of y begins
	Label  string  `json:"label,omitempty"`
	Panels []panel `json:"panels"`
}

// A panel is one plot. Without lines nothing is known.
type panel struct {
	Title string     `json:"title,omitempty"`
	X     values     `json:"x,omitempty"` // of all lines that have none of their own
	Lines []pageLine `json:"lines"`
	Marks []pageMark `json:"marks,omitempty"`
}

// A pageLine is a line with its colour: c and a number for a contestant, n for a node, l for
// several figures of one contestant.
type pageLine struct {
	Name  string `json:"name"`
	Color string `json:"color"`
	X     values `json:"x,omitempty"`
	Y     values `json:"y"`
}

// linesOf has a line of each contestant of which anything is known.
func linesOf(names []string, of func(i int) (x, y values)) []pageLine {
	lines := []pageLine{}
	for i, color := range colors(names) {
		if x, y := of(i); len(y) > 0 {
			lines = append(lines, pageLine{Clip(Printable(names[i]), 40), fmt.Sprintf("c%d", color), x, y})
		}
	}
	return lines
}

// A pageMark is an event.
type pageMark struct {
	Name  string  `json:"name"`
	Node  string  `json:"node,omitempty"`
	At    float64 `json:"at"`
	Until float64 `json:"until,omitempty"` // balanced
	Color string  `json:"color,omitempty"`
}

// bars show values of contestants in groups.
type bars struct {
	Unit   string     `json:"unit"`
	Level  *float64   `json:"level,omitempty"` // a line across
	Groups []barGroup `json:"groups"`
}

type barGroup struct {
	Name   string   `json:"name"`
	Level  *float64 `json:"level,omitempty"`
	Values []bar    `json:"values"` // by contestant
}

type bar struct {
	At   *float64 `json:"at"` // nil: not known
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
	Text string   `json:"text"`
	Best bool     `json:"best,omitempty"`
}

// values are numbers in JSON with five digits; what is none is null.
type values []float64

// MarshalJSON implements [json.Marshaler].
func (v values) MarshalJSON() ([]byte, error) {
	b := make([]byte, 0, 2+6*len(v))
	b = append(b, '[')
	for i, x := range v {
		if i > 0 {
			b = append(b, ',')
		}
		switch {
		case isNone(x):
			b = append(b, "null"...)
		case math.Abs(x) >= 1e4 && math.Abs(x) < 1e15:
			b = strconv.AppendInt(b, int64(math.Round(x)), 10)
		default:
			b = strconv.AppendFloat(b, x, 'g', 5, 64)
		}
	}
	return append(b, ']'), nil
}

// A point is a moment in milliseconds and a value; no value is NaN.
type point struct{ X, Y float64 }

// thin leaves at most so many points of a line, or 2 if that is less: of each stretch its
// lowest and its highest, in their order, so that neither a peak nor a dip gets lost. A
// stretch without any value stays a gap.
func thin(points []point, most int) []point {
	if len(points) <= max(2, most) {
		return points
	}
	stretches := max(1, most/2)
	left := make([]point, 0, 2*stretches)
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
			left = append(left, points[from])
		case low == high:
			left = append(left, points[low])
		default:
			left = append(left, points[min(low, high)], points[max(low, high)])
		}
	}
	return left
}

// split are the columns of points.
func split(points []point) (x, y values) {
	x, y = make(values, len(points)), make(values, len(points))
	for i, p := range points {
		x[i], y[i] = p.X, p.Y
	}
	return x, y
}

// shareX moves the moments of lines to their panel if all have the same.
func (p *panel) shareX() {
	if len(p.Lines) == 0 {
		return
	}
	first := p.Lines[0].X
	if slices.ContainsFunc(p.Lines, func(l pageLine) bool { return !slices.Equal(l.X, first) }) {
		return
	}
	p.X = first
	for i := range p.Lines {
		p.Lines[i].X = nil
	}
}
