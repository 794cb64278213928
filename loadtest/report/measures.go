package report

import (
	"math"
	"slices"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// A measure is what a chart over time shows of a run, to one scale for all contestants. figures.json
// lists them: those of clients, those of the whole cluster and those of nodes.
type measure struct {
	Title string
	Help  string
	Unit  unit
	Log   bool // a logarithmic axis, of what is above 0
	// Of is where the numbers come from: windows, samples, or nodes, of which each has a line.
	Of    string
	Lines []struct{ Name, From string } // From is the path of a number in its JSON form, or succeeded
	// PerSecond divides by the length of the window, or by the time since the sample before.
	PerSecond bool `json:"per_second"`
	// Stalls is for latency: see withStalls.
	Stalls bool
}

// A line of a chart. Its points are milliseconds and values; no value is NaN.
type line struct {
	name   string
	points []point
}

// lines are those of a run.
func (m *measure) lines(r *result.Report, run *result.Run) []line {
	if m.Of == "nodes" {
		return nodeLines(r, run, numberAt[result.NodeSample](m.Lines[0].From))
	}
	lines := make([]line, len(m.Lines))
	for k, l := range m.Lines {
		lines[k].name = l.Name
		switch {
		case m.Of == "samples":
			lines[k].points = pointsOf(run.Samples, numberAt[result.Sample](l.From))
		case l.From == "succeeded":
			lines[k].points = pointsOf(run.Windows, succeeded)
		default:
			lines[k].points = pointsOf(run.Windows, numberAt[result.Window](l.From))
		}
		if m.PerSecond {
			m.divide(lines[k].points, r.WindowMS)
		}
	}
	if m.Stalls {
		lines = withStalls(lines, run, r.WindowMS)
	}
	return lines
}

func succeeded(w *result.Window) (float64, bool) { return float64(w.Operations - w.Failed), true }

// divide divides numbers by the seconds in which they were counted: those of a window, or since the sample
// before; of the first sample, as long as until the second.
func (m *measure) divide(points []point, windowMS float64) {
	ms := max(windowMS, 1)
	for i := len(points) - 1; i >= 0; i-- {
		if m.Of == "samples" && i > 0 {
			ms = points[i].X - points[i-1].X
		} else if m.Of == "samples" && len(points) == 1 {
			ms = 100
		}
		points[i].Y = known(points[i].Y / ms * 1000)
	}
}

// known is a number, or NaN for what is none.
func known(y float64) float64 {
	if math.IsInf(y, 0) {
		return math.NaN()
	}
	return y
}

// pointsOf are the numbers of windows or samples over time.
func pointsOf[T any](all []T, number func(*T) (float64, bool)) []point {
	at := numberAt[T]("at_ms")
	points := make([]point, len(all))
	for i := range all {
		x, _ := at(&all[i])
		y, ok := number(&all[i])
		if !ok {
			y = math.NaN()
		}
		points[i] = point{x, known(y)}
	}
	return points
}

// nodeLines have a point for each sample, also of nodes that are not in it.
func nodeLines(r *result.Report, run *result.Run, number func(*result.NodeSample) (float64, bool)) []line {
	index := nodeIndex(r)
	lines := make([]line, len(index))
	for name, k := range index {
		lines[k] = line{name, make([]point, len(run.Samples))}
		for i := range run.Samples {
			lines[k].points[i] = point{run.Samples[i].AtMS, math.NaN()}
		}
	}
	for i := range run.Samples {
		for k := range run.Samples[i].Nodes {
			n := &run.Samples[i].Nodes[k]
			if y, ok := number(n); ok {
				lines[index[n.Node]].points[i].Y = known(y)
			}
		}
	}
	return lines
}

// nodeIndex numbers all nodes in the order in which they came, so that a node looks alike
// in all charts.
func nodeIndex(r *result.Report) map[string]int {
	index := map[string]int{}
	add := func(name string) {
		if _, ok := index[name]; !ok {
			index[name] = len(index)
		}
	}
	for _, run := range shownRuns(r) {
		// Where the same few nodes come again and again, one look at each change is enough.
		var before []result.NodeSample
		for k := range run.Samples {
			nodes := run.Samples[k].Nodes
			if !slices.EqualFunc(nodes, before, sameNode) {
				for j := range nodes {
					add(nodes[j].Node)
				}
				before = nodes
			}
		}
		for k := range run.Layouts {
			for _, name := range run.Layouts[k].Nodes {
				add(name)
			}
		}
	}
	return index
}

// nodeNames are all nodes, as nodeIndex numbers them.
func nodeNames(r *result.Report) []string {
	index := nodeIndex(r)
	names := make([]string, len(index))
	for name, i := range index {
		names[i] = name
	}
	return names
}

func sameNode(a, b result.NodeSample) bool { return a.Node == b.Node }

// withStalls adds a line of the wait of the oldest operation. In windows in which no operation ended it
// stands for the other lines, so that a stall is no gap.
func withStalls(lines []line, run *result.Run, windowMS float64) []line {
	oldest := line{"oldest wait", make([]point, len(run.Windows))}
	for i, wait := range oldestWaits(run, windowMS) {
		oldest.points[i] = point{run.Windows[i].AtMS, wait}
		if run.Windows[i].Operations > 0 {
			continue
		}
		for k := range lines {
			lines[k].points[i].Y = wait
		}
	}
	return append(lines, oldest)
}

// oldestWaits returns for each window how long, in microseconds, the oldest operation had been
// waiting at the window's end; NaN if none was. It follows from the slowest operation of each later
// window.
func oldestWaits(run *result.Run, windowMS float64) []float64 {
	waits := make([]float64, len(run.Windows))
	began := math.Inf(1)
	for i := len(run.Windows) - 1; i >= 0; i-- {
		w := &run.Windows[i]
		end := (w.AtMS + windowMS) * 1000
		waits[i] = math.NaN()
		if began < end {
			waits[i] = end - began
		}
		if w.Operations > 0 && !isNone(w.Max) {
			began = min(began, end-w.Max)
		}
	}
	return waits
}
