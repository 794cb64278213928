package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/result"
)

const (
	overlayHeight = vg.Length(260)
	sideHeight    = vg.Length(200)
	// mostOverlayPoints and mostSidePoints are those of one line.
	mostOverlayPoints = 1000
	mostSidePoints    = 300
	// mostPoints are those of all lines of all contestants over time; it keeps the page
	// small.
	mostPoints = 120_000
)

// markColor is that of events, which happen to all contestants alike.
var markColor = color.NRGBA{0x80, 0x80, 0x80, 0xFF}

// A clock is the axis of time of all charts of a report.
type clock struct {
	until float64 // ms
	by    float64 // ms in a unit
	unit  string
}

func clockOf(r *result.Report) clock {
	c := clock{}
	for i := range r.Contestants {
		if run := shown(&r.Contestants[i]); run != nil {
			c.until = max(c.until, until(run, r.WindowMS))
		}
	}
	switch {
	case c.until >= 4*3600e3:
		c.by, c.unit = 3600e3, "hours"
	case c.until >= 10*60e3:
		c.by, c.unit = 60e3, "minutes"
	default:
		c.by, c.unit = 1e3, "seconds"
	}
	c.until = max(c.until, 1)
	return c
}

// until is when the last thing that is known of a run was over, in ms.
func until(r *result.Run, windowMS float64) float64 {
	end := r.All.UntilMS
	if n := len(r.Windows); n > 0 {
		end = max(end, r.Windows[n-1].AtMS+windowMS)
	}
	if n := len(r.Samples); n > 0 {
		end = max(end, r.Samples[n-1].AtMS)
	}
	if isNone(end) {
		return 0
	}
	return end
}

// axis is that of time, below a plot.
func (c clock) axis(p *plot.Plot) {
	p.X.Min, p.X.Max = 0, c.until/c.by
	p.X.Tick.Marker = RoundTicks{Form: Plain}
	p.X.Label.Text = c.unit
}

// thin is a line in units of the clock, with at most so many points.
func (c clock) thin(points plotter.XYs, most int) plotter.XYs {
	thin := Thin(points, most)
	scaled := make(plotter.XYs, len(thin))
	for i, p := range thin {
		scaled[i] = plotter.XY{X: p.X / c.by, Y: p.Y}
	}
	return scaled
}

// marks are the events of a run, each with how long it took until all was balanced.
func (c clock) marks(run *result.Run) []Mark {
	marks := make([]Mark, len(run.Events))
	for i := range run.Events {
		e := &run.Events[i]
		marks[i] = Mark{At: e.AtMS / c.by, Label: Clip(Printable(e.Name), 12)}
		if e.BalancedMS != nil {
			marks[i].Until = *e.BalancedMS / c.by
		}
	}
	return marks
}

// A scale is the axis of values that all contestants share.
type scale struct{ low, high float64 }

func scaleOf(m *measure, lines [][]line) (s scale, any bool) {
	s = scale{math.Inf(1), math.Inf(-1)}
	for _, all := range lines {
		for _, l := range all {
			for _, p := range l.points {
				if !math.IsNaN(p.Y) && (!m.log || p.Y > 0) {
					s.low, s.high = min(s.low, p.Y), max(s.high, p.Y)
				}
			}
		}
	}
	return s, s.high >= s.low
}

// axis is that of values, beside a plot.
func (s scale) axis(p *plot.Plot, m *measure) {
	if m.log {
		p.Y.Min, p.Y.Max = LogBounds(s.low, s.high)
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, LogTicks{Form: m.unit.tick}
		return
	}
	form := m.unit.tick
	if m.unit == share {
		s.high = 1
	}
	if m.unit == sized { // ticks at round numbers of the unit, not of bytes
		by, suffix := m.unit.scale(s.high)
		p.Y.Min, p.Y.Max = 0, Bound(0, s.high/by)*by
		p.Y.Tick.Marker = scaledTicks{by, suffix}
		return
	}
	p.Y.Min, p.Y.Max = 0, Bound(0, s.high)
	p.Y.Tick.Marker = RoundTicks{Form: form}
}

// scaledTicks are round in a unit that is no power of ten.
type scaledTicks struct {
	by     float64
	suffix string
}

// Ticks implements [plot.Ticker].
func (t scaledTicks) Ticks(low, high float64) []plot.Tick {
	ticks := RoundTicks{Form: Plain}.Ticks(low/t.by, high/t.by)
	for i := range ticks {
		if ticks[i].Value != 0 {
			ticks[i].Label += t.suffix
		}
		ticks[i].Value *= t.by
	}
	return ticks
}

// linesOf are the lines of all contestants, nil for those without. A run of a day has more
// points than anybody sees, so they are thinned at once.
func linesOf(r *result.Report, m *measure) [][]line {
	all := make([][]line, len(r.Contestants))
	for i := range r.Contestants {
		if run := shown(&r.Contestants[i]); run != nil {
			for _, l := range m.lines(r, run) {
				if l.points = Thin(l.points, mostOverlayPoints); hasValue(l.points) {
					all[i] = append(all[i], l)
				}
			}
		}
	}
	return all
}

func hasValue(points plotter.XYs) bool {
	for _, p := range points {
		if !math.IsNaN(p.Y) {
			return true
		}
	}
	return false
}

// linePlot draws lines over time with marks behind them.
func linePlot(title string, m *measure, t clock, s scale, lines []line, marks []Marks, most int, c draw.Canvas) {
	p := NewPlot(title)
	MarkRoom(p)
	for _, all := range marks {
		p.Add(all)
	}
	for k := len(lines) - 1; k >= 0; k-- { // the first on top
		points := t.thin(lines[k].points, most)
		if m.log {
			for i := range points {
				if !(points[i].Y > 0) {
					points[i].Y = math.NaN()
				}
			}
		}
		p.Add(Series{Points: points, Style: lines[k].look.Line(1.25)})
	}
	t.axis(p)
	s.axis(p, m)
	p.Draw(c)
}

// sideCharts show a measure of each contestant, to one scale; nil if nobody has it. The
// picture of those who do not is nil too.
func sideCharts(r *result.Report, m *measure, t clock, most int) []*Drawing {
	lines := linesOf(r, m)
	s, any := scaleOf(m, lines)
	if !any {
		return nil
	}
	all := make([]*Drawing, len(lines))
	for i := range lines {
		if lines[i] == nil {
			continue
		}
		c := &r.Contestants[i]
		marks := []Marks{{List: t.marks(shown(c)), Color: markColor}}
		all[i] = &Drawing{Width: HalfWidth, Height: sideHeight, Title: shortName(c),
			About: fmt.Sprintf("Lines: %s of %s over time, with events marked. %s", m.title, c.Name, m.help),
			Paint: func(canvas draw.Canvas) { linePlot("", m, t, s, lines[i], marks, most, canvas) }}
	}
	return all
}

// overlay shows one line of each contestant in one chart, and events in the contestant's
// colour, since they do not happen to all at the same moment.
func overlay(r *result.Report, m *measure, which int, t clock) (paint func(title string, c draw.Canvas), any bool) {
	var lines []line
	var marks []Marks
	looks := Looks(names(r))
	bare := false
	for i, all := range linesOf(r, m) {
		if which >= len(all) {
			continue
		}
		l := all[which]
		l.look = looks[i]
		lines = append(lines, l)
		list := t.marks(shown(&r.Contestants[i]))
		for k := range list {
			list[k].Until = 0
		}
		marks = append(marks, Marks{List: list, Color: looks[i].Color, Bare: bare})
		bare = bare || len(list) > 0 // one set of labels is enough
	}
	s, any := scaleOf(m, [][]line{lines})
	return func(title string, c draw.Canvas) {
		linePlot(title, m, t, s, lines, marks, mostOverlayPoints, c)
	}, any
}

func overlayChart(r *result.Report, m *measure, which int, title string, t clock) (Drawing, bool) {
	paint, any := overlay(r, m, which, t)
	return Drawing{Width: FullWidth, Height: overlayHeight, Title: title,
		About: "Lines: " + title + " of each contestant over time, with events marked in its colour.",
		Paint: func(c draw.Canvas) { paint("", c) }}, any
}

func names(r *result.Report) []string {
	all := make([]string, len(r.Contestants))
	for i := range r.Contestants {
		all[i] = r.Contestants[i].Name
	}
	return all
}
