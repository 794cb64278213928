package report

import (
	"slices"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// mostBarSteps is how many steps are shown as bars. More are lines.
const mostBarSteps = 12

func movedSection(r *sim.Report) section {
	s := section{ID: "moved", Title: "Keys moved", Text: "What each step moved, as a share of all copies of keys: a key whose primary and one backup travel counts twice. The line across a bar is the least that any strategy must move if the load is to be even before and after; what moves less pays for it with a load that is not. The best is nearest to that least."}
	if len(r.Steps) < 2 {
		return section{}
	}
	moved := func(i, j int) float64 {
		return Share(r.Steps[i].Outcomes[j].Moved.Keys, copiesAfter(r, &r.Steps[i]))
	}
	shares, ratios := pagePart{Title: "Keys moved, and the least possible"}, pagePart{Title: "Keys moved ÷ the least possible"}
	if len(r.Steps)-1 <= mostBarSteps {
		shares.Bars, ratios.Bars = movedShares(r, moved), movedRatios(r)
	} else {
		shares.Help, shares.Chart = "1 is all copies.", linesByStep(r, 1, factor, moved)
		panel := &shares.Chart.Panels[0]
		x, y := byStepThin(r, 1, func(i int) float64 { return leastShare(r, i) })
		panel.Lines = append(panel.Lines, pageLine{Name: "least possible", Color: "l0", X: x, Y: y})
		ratios.Chart = linesByStep(r, 1, factor, func(i, j int) float64 { return r.Steps[i].Outcomes[j].Ratio })
	}
	s.Parts = []pagePart{shares, ratios, foldedTable("Figures", movedGrid(r))}
	return s
}

// leastShare is the least that any strategy must move in a step, as a share of all copies.
func leastShare(r *sim.Report, i int) float64 {
	return Share(r.Steps[i].Least.Keys, copiesAfter(r, &r.Steps[i]))
}

func movedShares(r *sim.Report, moved func(i, j int) float64) *bars {
	b := &bars{Unit: string(share)}
	for i := 1; i < len(r.Steps); i++ {
		least := leastShare(r, i)
		g := barGroup{Name: stepName(r, i), Level: &least}
		if len(r.Steps[i].LeastEach) > 0 {
			g.Level = nil
		}
		for j := range r.Contenders {
			at := moved(i, j)
			g.Values = append(g.Values, bar{At: &at, Text: Percent(at) + " %"})
		}
		b.Groups = append(b.Groups, g)
	}
	return b
}

// movedRatios mark the best, which is nearest to 1.
func movedRatios(r *sim.Report) *bars {
	level := 1.0
	b := &bars{Unit: string(factor), Level: &level}
	for i := 1; i < min(len(r.Steps), mostBarSteps+1); i++ {
		g := barGroup{Name: stepName(r, i)}
		cells := figureNamed(lists.Step, "moved/least").ofStep(r, i)
		for j, best := range bestCells(r.Contenders, cells) {
			one := bar{Text: cells[j].text, Best: best}
			if cells[j].ranks {
				one.At = &r.Steps[i].Outcomes[j].Ratio
			}
			g.Values = append(g.Values, one)
		}
		b.Groups = append(b.Groups, g)
	}
	return b
}

// A balanceMeasure is one way to say how even the load is.
type balanceMeasure struct {
	title string
	even  float64 // its value when all is even, where its axis begins
	unit  unit
	of    func(b *sim.Balance) float64
}

var balanceMeasures = []balanceMeasure{
	{"Fullest node by keys, max ÷ mean", 1, factor, func(b *sim.Balance) float64 { return b.Keys.Max }},
	{"Unevenness by keys (CV)", 0, share, func(b *sim.Balance) float64 { return b.Keys.CV }},
	{"Busiest node by zipf requests, max ÷ mean", 1, factor, func(b *sim.Balance) float64 { return b.Zipf.Max }},
	{"Busiest node by hotspot requests, max ÷ mean", 1, factor, func(b *sim.Balance) float64 { return b.Hotspot.Max }},
}

func balanceSection(r *sim.Report) section {
	s := section{ID: "balance", Title: "Balance", Text: "How even the load is after each step; step 0 is the start. Loads are multiples of a node's fair share, which goes by its weight: at 1 (or 0 %) all is even."}
	for _, m := range balanceMeasures {
		u, times := m.unit, 1.0
		if u == share { // a share of 1 is not the most that there can be
			u, times = "percent", 100
		}
		c := linesByStep(r, 0, u, func(i, j int) float64 { return times * m.of(&r.Steps[i].Outcomes[j].Balance) })
		c.Even = m.even
		s.Parts = append(s.Parts, pagePart{Title: m.title, Chart: c}, foldedTable("All figures: "+m.title, measureGrid(r, m)))
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
	return section{ID: "load", Title: "Load per node", Text: "The keys that each node is the primary of, as a multiple of its fair share, with the nodes sorted from the emptiest to the fullest: a flat line at 1 is even.",
		Parts: []pagePart{{Chart: c}, foldedTable("All figures", loadGrid(r, steps))}}
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
			node := func(k int) (int, bool) {
				if k < 0 || k >= len(step.Nodes) {
					return 0, false
				}
				return index[step.Nodes[k].ID], true
			}
			one.States = append(one.States, owners{Primary: ownersText(o.Primary, node), Backup: ownersText(o.Backup, node)})
		}
		if steps > 0 && len(one.States) == steps {
			c.Each = append(c.Each, one)
		}
	}
	if len(c.Each) == 0 {
		return section{}
	}
	return section{ID: "owners", Title: "Owners", Text: circleText, Parts: []pagePart{{Circles: c}}}
}
