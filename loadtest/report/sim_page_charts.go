package report

import (
	"slices"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// mostBarSteps is how many steps are shown as bars. More are lines.
const mostBarSteps = 12

func movedSection(r *sim.Report) section {
	if len(r.Steps) < 2 {
		return section{}
	}
	moved := func(i, j int) float64 { return movedShare(r, i, j) }
	shares, ratios := pagePart{Title: "Keys moved, and the least possible"}, pagePart{Title: "Keys moved ÷ the least possible"}
	if len(r.Steps)-1 <= mostBarSteps {
		shares.Bars, ratios.Bars = movedShares(r), figureBars(r, figureNamed(lists().Step, "moved/least"), true)
	} else {
		shares.Help, shares.Chart = "1 is all copies.", linesByStep(r, 1, factor, moved)
		panel := &shares.Chart.Panels[0]
		x, y := byStepThin(r, 1, func(i int) float64 { return leastShare(r, i) })
		panel.Lines = append(panel.Lines, pageLine{Name: "least possible", Color: "l0", X: x, Y: y})
		ratios.Chart = linesByStep(r, 1, factor, func(i, j int) float64 { return r.Steps[i].Outcomes[j].Ratio })
	}
	return simSection("moved", shares, ratios, foldedTable("Figures", movedGrid(r)))
}

// leastShare is the least that any strategy must move in a step, as a share of all copies.
func leastShare(r *sim.Report, i int) float64 {
	return Share(r.Steps[i].Least.Keys, copiesAfter(r, &r.Steps[i]))
}

// movedShare is what a contender moved in a step, as a share of all copies.
func movedShare(r *sim.Report, i, j int) float64 {
	return Share(r.Steps[i].Outcomes[j].Moved.Keys, copiesAfter(r, &r.Steps[i]))
}

func movedShares(r *sim.Report) *bars {
	b := &bars{Unit: string(share)}
	for i := 1; i < len(r.Steps); i++ {
		least := leastShare(r, i)
		g := barGroup{Name: stepName(r, i), Level: &least}
		if len(r.Steps[i].LeastEach) > 0 {
			g.Level = nil
		}
		for j := range r.Contenders {
			at := movedShare(r, i, j)
			g.Values = append(g.Values, bar{At: &at, Text: percentage.text(at)})
		}
		b.Groups = append(b.Groups, g)
	}
	return b
}

// figureBars have a group for each of the first steps, with a line at 1, where all is even.
func figureBars(r *sim.Report, f *figure, marked bool) *bars {
	level := 1.0
	b := &bars{Unit: string(factor), Level: &level}
	for i := 1; i < min(len(r.Steps), mostBarSteps+1); i++ {
		g := barGroup{Name: stepName(r, i)}
		for j, cell := range f.ofStep(r, i) {
			one := bar{Text: cell.Text, Best: cell.Best && marked}
			if x, _ := f.outcome(&r.Steps[i].Outcomes[j]); cell.Text != None {
				one.At = &x
			}
			g.Values = append(g.Values, one)
		}
		b.Groups = append(b.Groups, g)
	}
	return b
}

func balanceSection(r *sim.Report) section {
	s := simSection("balance")
	for k := range lists().Balance {
		f := &lists().Balance[k]
		even, u, times := 1.0, factor, 1.0
		if f.Unit == percentage {
			even, u, times = 0, "percent", 100 // not share, of which 1 is the most that there can be
		}
		c := linesByStep(r, 0, u, func(i, j int) float64 {
			x, _ := f.outcome(&r.Steps[i].Outcomes[j])
			return times * x
		})
		c.Even = even
		table := byStep(r, 0, func(i int) []Cell { return f.ofStep(r, i) })
		s.Parts = append(s.Parts, pagePart{Title: f.Name, Chart: c}, foldedTable("All figures: "+f.Name, table))
	}
	return s
}

// linesByStep have a line for each contender.
func linesByStep(r *sim.Report, from int, u unit, of func(step, contender int) float64) *chart {
	p := panel{Lines: linesOf(contenderNames(r.Contenders), func(j int) (x, y values) {
		return byStepThin(r, from, func(i int) float64 { return of(i, j) })
	})}
	p.shareX()
	return &chart{Axis: "step", Label: "step", Unit: string(u), Panels: []panel{p}}
}

// byStepThin has a point for each step, as far as a page has room for them.
func byStepThin(r *sim.Report, from int, of func(step int) float64) (x, y values) {
	var points []point
	for i := from; i < len(r.Steps); i++ {
		points = append(points, point{float64(i), of(i)})
	}
	return split(thin(points, mostLinePoints))
}

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

// loadSection has the sorted loads of the nodes, a panel a step, all to one scale.
func loadSection(r *sim.Report) section {
	steps := loadSteps(r)
	c := &chart{Axis: "percent", Unit: string(factor), Label: "nodes, from the emptiest to the fullest"}
	for _, i := range steps {
		p := panel{Title: stepName(r, i) + " · " + Plural(len(r.Steps[i].Nodes), "node")}
		p.Lines = linesOf(contenderNames(r.Contenders), func(j int) (x, y values) { return staircase(loads(&r.Steps[i], j)) })
		p.shareX()
		c.Panels = append(c.Panels, p)
	}
	return simSection("load", pagePart{Chart: c}, foldedTable("All figures", loadGrid(r, steps)))
}

// mostStairs is how many nodes a curve shows one by one; of more, it shows so many
// at even distances, the first and the last among them.
const mostStairs = 150

// staircase is a curve with a step for each node, and the last value once more at 100 percent.
func staircase(loads []float64) (x, y values) {
	n := min(len(loads), mostStairs)
	for k := range n {
		at := 0
		if n > 1 {
			at = k * (len(loads) - 1) / (n - 1)
		}
		x, y = append(x, float64(k)*100/float64(n)), append(y, loads[at])
	}
	if n > 0 {
		x, y = append(x, 100), append(y, y[n-1])
	}
	return x, y
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

// Bounds of circles: more nodes have no colours of their own.
const (
	mostCircleNodes  = 64
	mostCircleStates = 600
)

// simOwnersSection has the circles of the contenders that place ranges.
func simOwnersSection(r *sim.Report, index map[string]int) section {
	c := &circles{Each: []circle{}}
	steps := min(len(r.Steps), mostPageSteps+1)
	for i := range steps {
		if len(r.Steps[i].Nodes) > mostCircleNodes || (i+1)*len(r.Contenders) > mostCircleStates {
			steps = i
			break
		}
		c.Frames = append(c.Frames, circleFrame{Name: stepName(r, i), Before: max(0, i-1)})
	}
	for j := range r.Contenders {
		one := circle{Name: r.Contenders[j].Name}
		for i := range steps {
			step := &r.Steps[i]
			o := step.Outcomes[j].Circle
			if o == nil {
				break
			}
			ids := nodeIDs(step)
			one.States = append(one.States, owners{Primary: ownersText(o.Primary, ids, index), Backup: ownersText(o.Backup, ids, index)})
		}
		if steps > 0 && len(one.States) == steps {
			c.Each = append(c.Each, one)
		}
	}
	if len(c.Each) == 0 {
		return section{}
	}
	return simSection("owners", pagePart{Circles: c})
}
