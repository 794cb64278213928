package report

import (
	"math"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// A measure is what a chart over time shows of a run, to one scale for all contestants.
type measure struct {
	title string
	help  string
	unit  unit
	log   bool // a logarithmic axis, of what is above 0
	nodes bool // lines are nodes
	lines func(r *result.Report, run *result.Run) []line
}

// A line of a chart. Its points are milliseconds and values; no value is NaN.
type line struct {
	name   string
	points []point
}

// clientMeasures are those of clients, clusterMeasures those that nodes report.
var clientMeasures = []measure{
	{title: "Throughput", unit: perSecond, help: "Operations each second that were answered without an error.",
		lines: func(r *result.Report, run *result.Run) []line {
			return windowLines(run, []string{"operations"}, func(w *result.Window) []float64 { return []float64{perSecondIn(w, r.WindowMS)} })
		}},
	{title: "Latency", unit: micros, log: true, help: "Half of the operations of a window took no longer than p50, 99 of 100 no longer than p99, 999 of 1,000 no longer than p99.9. The oldest wait is how long the slowest operation had been waiting at the end of a window; it stands for the others in windows in which no operation ended. The scale is logarithmic.",
		lines: latencyLines},
	{title: "Failed operations", unit: perSecond, help: "Operations per second that ended with an error, or whose outcome is not known.",
		lines: func(r *result.Report, run *result.Run) []line {
			by := max(r.WindowMS, 1) / 1000
			return windowLines(run, []string{"failed", "unknown"}, func(w *result.Window) []float64 { return []float64{float64(w.Failed) / by, float64(w.Unknown) / by} })
		}},
}

var clusterMeasures = []measure{
	{title: "Bytes moved", unit: sized, help: "Bytes of copies that arrived at nodes, each second.",
		lines: func(_ *result.Report, run *result.Run) []line {
			return sampleLines(run, "bytes each second", func(s *result.Sample, seconds float64) float64 { return float64(s.MovedBytes) / seconds })
		}},
	{title: "Handoffs", unit: count, help: "Movements of ranges from one node to another that run at a time.",
		lines: func(_ *result.Report, run *result.Run) []line {
			return sampleLines(run, "handoffs", func(s *result.Sample, _ float64) float64 { return float64(s.Handoffs) })
		}},
	{title: "Forwarded requests", unit: share, help: "Share of requests that a node passed on to another, since it did not have the key itself.",
		lines: func(_ *result.Report, run *result.Run) []line {
			return sampleLines(run, "forwarded", func(s *result.Sample, _ float64) float64 { return s.Forwarded })
		}},
}

var nodeMeasures = []measure{
	{title: "Requests of each node", unit: perSecond, nodes: true, help: "Requests each second that a node executed.",
		lines: nodeLines(func(n *result.NodeSample) float64 { return n.PerSecond })},
	{title: "Keys of each node", unit: count, nodes: true, help: "Primaries and backups that a node has, by its own estimate.",
		lines: nodeLines(func(n *result.NodeSample) float64 { return float64(n.Keys) })},
	{title: "CPU of each node", unit: plain, nodes: true, help: "Processors that a node took.",
		lines: nodeLines(func(n *result.NodeSample) float64 {
			return orNaN(n.Cores)
		})},
	{title: "CPU beside the nodes", unit: plain, help: "Processors that the clients used. Where nodes run in the process of the clients, also processors that belong to neither: garbage collection and compactions.",
		lines: func(_ *result.Report, run *result.Run) []line {
			all := sampleLines(run, "clients", func(s *result.Sample, _ float64) float64 { return orNaN(s.GeneratorCores) })
			shared := sampleLines(run, "shared", func(s *result.Sample, _ float64) float64 { return orNaN(s.SharedCores) })
			return append(all, shared...)
		}},
	{title: "Memory of each node", unit: sized, nodes: true, help: "Memory that a node has of the operating system.",
		lines: nodeLines(func(n *result.NodeSample) float64 {
			if n.MemoryBytes == nil {
				return math.NaN()
			}
			return float64(*n.MemoryBytes)
		})},
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}

func perSecondIn(w *result.Window, windowMS float64) float64 {
	return float64(w.Operations-w.Failed) / max(windowMS, 1) * 1000
}

// windowLines has a point in the middle of each window.
func windowLines(run *result.Run, names []string, of func(*result.Window) []float64) []line {
	lines := make([]line, len(names))
	for k, name := range names {
		lines[k] = line{name: name, points: make([]point, len(run.Windows))}
	}
	for i := range run.Windows {
		w := &run.Windows[i]
		for k, y := range of(w) {
			lines[k].points[i] = point{X: w.AtMS, Y: known(y)}
		}
	}
	return lines
}

func sampleLines(run *result.Run, name string, of func(s *result.Sample, seconds float64) float64) []line {
	l := line{name: name}
	for i := range run.Samples {
		s := &run.Samples[i]
		seconds := 0.1
		if i > 0 {
			seconds = (s.AtMS - run.Samples[i-1].AtMS) / 1000
		} else if len(run.Samples) > 1 {
			seconds = (run.Samples[1].AtMS - s.AtMS) / 1000
		}
		y := math.NaN()
		if seconds > 0 {
			y = known(of(s, seconds))
		}
		l.points = append(l.points, point{X: s.AtMS, Y: y})
	}
	return []line{l}
}

func nodeLines(of func(*result.NodeSample) float64) func(*result.Report, *result.Run) []line {
	return func(r *result.Report, run *result.Run) []line {
		index := nodeIndex(r)
		lines := make([]line, len(index))
		for name, k := range index {
			lines[k] = line{name: name}
		}
		for i := range run.Samples {
			s := &run.Samples[i]
			for k := range lines {
				lines[k].points = append(lines[k].points, point{X: s.AtMS, Y: math.NaN()})
			}
			for k := range s.Nodes {
				lines[index[s.Nodes[k].Node]].points[i].Y = known(of(&s.Nodes[k]))
			}
		}
		return lines
	}
}

// known is a number, or NaN for what is none.
func known(y float64) float64 {
	if math.IsInf(y, 0) {
		return math.NaN()
	}
	return y
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
	for i := range r.Contestants {
		run := shown(&r.Contestants[i])
		if run == nil {
			continue
		}
		// Where the same few nodes come again and again, one look at each change is enough.
		var before []result.NodeSample
		for k := range run.Samples {
			nodes := run.Samples[k].Nodes
			if !sameNodes(nodes, before) {
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

func sameNodes(a, b []result.NodeSample) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Node != b[i].Node {
			return false
		}
	}
	return true
}

// latencyLines fill windows in which no operation ended with the wait of the oldest operation, so
// that a stall is no gap.
func latencyLines(r *result.Report, run *result.Run) []line {
	lines := windowLines(run, []string{"p50", "p99", "p99.9", "oldest wait"}, func(w *result.Window) []float64 {
		return []float64{w.P50, w.P99, w.P999, 0}
	})
	for i, wait := range oldestWaits(run, r.WindowMS) {
		lines[3].points[i].Y = wait
		if run.Windows[i].Operations > 0 {
			continue
		}
		for k := range 3 {
			lines[k].points[i].Y = wait
		}
	}
	return lines
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
