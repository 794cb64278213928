package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// Points of lines over time. They keep the page small.
const (
	mostLinePoints = 1000    // of a line
	mostPoints     = 120_000 // of all lines
)

// timeCharts are the charts over time of a load test. Each contestant is shown by one run.
type timeCharts struct {
	report *result.Report
	nodes  map[string]int
	until  float64 // ms
	most   int     // points of a line
}

func newTimeCharts(r *result.Report) *timeCharts {
	t := &timeCharts{report: r, nodes: nodeIndex(r), until: 1}
	for _, run := range shownRuns(r) {
		t.until = max(t.until, until(run, r.WindowMS))
	}
	lines := 8 // of the summary and of the measures that have a few lines each
	for _, m := range slices.Concat(lists().ClientCharts, lists().ClusterCharts, lists().NodeCharts) {
		if m.Of == "nodes" {
			lines += len(t.nodes)
		} else {
			lines += 2
		}
	}
	t.most = max(20, min(mostLinePoints, mostPoints/max(1, lines*len(r.Contestants))))
	return t
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

// summary has the figures of the whole runs, and the charts that compare all contestants in one
// plot.
func (t *timeCharts) summary() section {
	r := t.report
	s := loadTestSection("summary")
	if text := legendText(r); text != "" {
		s.Text = capital(strings.ReplaceAll(text, "the best of its row", "the best of each row is marked")) + " " + s.Text
	}
	s.Parts = append(s.Parts, tablePart("", figuresGrid(r, "", rows(r, nil))))
	for _, one := range []struct {
		measure *measure
		line    int
		title   string
	}{{&lists().ClientCharts[0], 0, "Throughput, operations each second"}, {&lists().ClientCharts[1], 1, "p99 of each window"}} {
		if c := t.overlay(one.measure, one.line); c != nil {
			s.Parts = append(s.Parts, pagePart{Title: one.title, Chart: c})
		}
	}
	if b := eventBars(r, figureNamed(lists().Event, "moved/least"), true, mostPageEvents); b != nil {
		s.Parts = append(s.Parts, pagePart{Title: "Keys moved ÷ the least possible", Help: "The best is nearest to 1: less means that the load was not even.", Bars: b})
	}
	return s
}

// section has a panel for each contestant and measure, to one scale.
func (t *timeCharts) section(id string, measures []measure) section {
	s := loadTestSection(id)
	for i := range measures {
		if c := t.sides(&measures[i]); c != nil {
			s.Parts = append(s.Parts, pagePart{Title: measures[i].Title, Help: measures[i].Help, Chart: c})
		}
	}
	return s
}

func (t *timeCharts) chart(m *measure) *chart {
	return &chart{Axis: "time", Until: t.until, Unit: string(m.Unit), Log: m.Log}
}

// sides are the panels of a measure, one for each contestant; nil if no contestant has it.
func (t *timeCharts) sides(m *measure) *chart {
	c, any := t.chart(m), false
	for i := range t.report.Contestants {
		p := panel{Title: shortName(&t.report.Contestants[i]), Lines: []pageLine{}}
		if run := shown(&t.report.Contestants[i]); run != nil {
			color := "l"
			if m.Of == "nodes" {
				color = "n"
			}
			for k, l := range m.lines(t.report, run) {
				if l, ok := t.line(m, l, fmt.Sprint(color, k)); ok {
					p.Lines = append(p.Lines, l)
				}
			}
			p.Marks = marks(run, "")
		}
		any = any || len(p.Lines) > 0
		p.shareX()
		c.Panels = append(c.Panels, p)
	}
	if !any {
		return nil
	}
	return c
}

// overlay shows one line of each contestant in one panel.
func (t *timeCharts) overlay(m *measure, which int) *chart {
	p := panel{Lines: []pageLine{}}
	colors := colors(names(t.report))
	for i, run := range shownRuns(t.report) {
		l := m.lines(t.report, run)[which]
		l.name = t.report.Contestants[i].Name
		if l, ok := t.line(m, l, fmt.Sprintf("c%d", colors[i])); ok {
			p.Lines = append(p.Lines, l)
			p.Marks = append(p.Marks, marks(run, l.Color)...)
		}
	}
	if len(p.Lines) == 0 {
		return nil
	}
	p.shareX()
	c := t.chart(m)
	c.Panels = []panel{p}
	return c
}

// line is a line of the page; ok reports whether it has a value.
func (t *timeCharts) line(m *measure, l line, color string) (out pageLine, ok bool) {
	for i, p := range l.points {
		if m.Log && !(p.Y > 0) {
			l.points[i].Y = math.NaN()
		}
		ok = ok || !math.IsNaN(l.points[i].Y)
	}
	out = pageLine{Name: Clip(Printable(l.name), 40), Color: color}
	out.X, out.Y = split(thin(l.points, t.most))
	return out, ok
}

// marks are the events of a run.
func marks(run *result.Run, color string) []pageMark {
	all := make([]pageMark, len(run.Events))
	for i := range run.Events {
		e := &run.Events[i]
		all[i] = pageMark{Name: Clip(Printable(e.Name), 20), Node: Clip(Printable(e.Node), 30), At: e.AtMS, Color: color}
		if e.BalancedMS != nil {
			all[i].Until = *e.BalancedMS
		}
	}
	return all
}

// eventBars have a group for each event; nil if no contestant has the figure.
func eventBars(r *result.Report, f *figure, even bool, most int) *bars {
	b, any := &bars{Unit: string(f.Unit)}, false
	if level := 1.0; even {
		b.Level = &level
	}
	all := events(r)
	for _, e := range all[:min(len(all), most)] {
		g := barGroup{Name: Clip(Printable(e.label()), 30)}
		line := newRow(r, f, &e)
		for i, v := range line.values {
			v.before = nil
			cell := valueCell(f, v, line.best[i])
			one := bar{Text: cell.both(), Best: cell.Best}
			if v.rounds > 0 {
				any = true
				one.At = &v.at
			}
			if v.rounds > 1 {
				one.Low, one.High = &v.low, &v.high
			}
			g.Values = append(g.Values, one)
		}
		b.Groups = append(b.Groups, g)
	}
	if !any {
		return nil
	}
	return b
}
