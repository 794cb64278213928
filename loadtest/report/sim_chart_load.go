package report

import (
	"fmt"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// mostLoadSteps is how many steps the loads of nodes are drawn of.
const mostLoadSteps = 6

// loadSteps picks steps evenly, among them the start and the last.
func loadSteps(r *sim.Report) []int {
	n := min(len(r.Steps), mostLoadSteps)
	picked := make([]int, 0, n)
	for k := range n {
		at := 0
		if n > 1 {
			at = (k*(len(r.Steps)-1) + (n-1)/2) / (n - 1)
		}
		picked = append(picked, at)
	}
	return slices.Compact(picked)
}

// loads are the keys that each node is the primary of, as multiples of its fair
// share, from the emptiest node to the fullest.
func loads(step *sim.Step, contender int) []float64 {
	nodes := step.Outcomes[contender].Nodes
	keys, weights := int64(0), 0.0
	for i, n := range nodes {
		keys += n.Primary.Keys
		weights += step.Nodes[i].Weight
	}
	all := make([]float64, len(nodes))
	for i, n := range nodes {
		if fair := float64(keys) * step.Nodes[i].Weight / weights; fair > 0 {
			all[i] = float64(n.Primary.Keys) / fair
		}
	}
	slices.Sort(all)
	return all
}

// loadCharts show the sorted loads of the nodes, one chart a step, all to one scale.
func loadCharts(r *sim.Report, steps []int) []Drawing {
	highest := 1.0
	for _, i := range steps {
		for j := range r.Contenders {
			if l := loads(&r.Steps[i], j); len(l) > 0 {
				highest = max(highest, l[len(l)-1])
			}
		}
	}
	var all []Drawing
	for _, i := range steps {
		all = append(all, Drawing{Width: HalfWidth, Height: HalfHeight, Title: stepName(r, i) + " · " + Plural(len(r.Steps[i].Nodes), "node"),
			About: fmt.Sprintf("Curves: the keys of each node as a multiple of its fair share after step %d, from the emptiest node to the fullest, by contender. The table below has the figures.", i),
			Paint: func(c draw.Canvas) { loadPlot(r, i, highest, c) }})
	}
	return all
}

func loadPlot(r *sim.Report, i int, highest float64, c draw.Canvas) {
	step := &r.Steps[i]
	p := NewPlot("")
	all := Looks(contenderNames(r.Contenders))
	for j := len(all) - 1; j >= 0; j-- { // the first contender on top
		p.Add(&plotter.Line{XYs: staircase(loads(step, j)), LineStyle: all[j].Line(1.75)})
	}
	p.Y.Min, p.Y.Max = 0, Bound(0, highest)
	p.Y.Tick.Marker = RoundTicks{Form: Plain}
	p.Y.Label.Text = "times the fair share"
	p.X.Label.Text = "nodes, from the emptiest to the fullest"
	p.X.Min, p.X.Max = 0, 100
	p.X.Tick.Marker = RoundTicks{Form: InPercent}
	p.Draw(c)
}

// mostStairs is how many nodes a curve shows one by one; of more, it shows so many
// at even distances, the first and the last among them.
const mostStairs = 150

func staircase(loads []float64) plotter.XYs {
	n := min(len(loads), mostStairs)
	var points plotter.XYs
	for k := range n {
		at := 0
		if n > 1 {
			at = k * (len(loads) - 1) / (n - 1)
		}
		x := 100 / float64(n)
		points = append(points, plotter.XY{X: float64(k) * x, Y: loads[at]}, plotter.XY{X: float64(k+1) * x, Y: loads[at]})
	}
	return points
}

// quantiles are the loads of the emptiest node, of those at a tenth, a half and nine
// tenths of all, and of the fullest.
func quantiles(loads []float64) [5]float64 {
	var q [5]float64
	if len(loads) == 0 {
		return q
	}
	for i, part := range []float64{0, 0.1, 0.5, 0.9, 1} {
		q[i] = loads[int(part*float64(len(loads)-1)+0.5)]
	}
	return q
}
