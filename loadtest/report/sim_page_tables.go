package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// The tables of the page.

func simFacts(r *sim.Report, options PageOptions) [][2]string {
	s := r.Settings
	keys := Count(int64(s.Keys)) + ", made up"
	if s.KeyFile != "" {
		keys = Count(int64(s.Keys)) + ", from " + s.KeyFile
	}
	all := [][2]string{
		{"Scenario", s.Scenario},
		{"Order", s.Order},
		{"Seed", strconv.FormatUint(s.Seed, 10)},
		{"Nodes at the start", Count(int64(s.Nodes))},
		{"Backups", backups(s)},
		{"Keys", keys},
		{"Bytes of keys and values", Size(s.Bytes)},
		{"Hash", s.Hash},
		{"Zipf requests", "exponent " + Plain(s.ZipfTheta)},
		{"Hotspot requests", fmt.Sprintf("%s %% of requests go to %s %% of the keys", Percent(s.HotShare), Percent(s.HotKeys))},
		{"Machine", strings.Join(nonEmpty(s.Machine, s.Go), ", ")},
		{"Ringside", options.Version},
		{"Took", Duration(r.Took)},
	}
	var known [][2]string
	for _, f := range all {
		if f[1] != "" {
			known = append(known, [2]string{f[0], Printable(f[1])})
		}
	}
	return known
}

// contenderHeads names the contenders above their columns.
func contenderHeads(first string, contenders []sim.Contender) []string {
	all := []string{first}
	for _, c := range contenders {
		name := c.Name
		if c.Yardstick {
			name = "(" + name + ")"
		}
		all = append(all, name)
	}
	return all
}

// tableRow is a row with a cell for each contender, the best marked.
func tableRow(name string, contenders []sim.Contender, cells []simCell) []Cell {
	row := []Cell{{Text: name}}
	for j, isBest := range bestOf(contenders, cells) {
		row = append(row, Cell{Text: cells[j].text, Best: isBest, Yardstick: contenders[j].Yardstick})
	}
	return row
}

func summaryGrid(r *sim.Report) Grid {
	t := Grid{Head: contenderHeads("", r.Contenders)}
	all := SummarizeSimulation(r)
	for _, f := range figuresOf(r) {
		t.Rows = append(t.Rows, f.row(r.Contenders, all))
	}
	return t
}

func (f simFigure) row(contenders []sim.Contender, all []SimulationSummary) []Cell {
	return tableRow(f.name, contenders, f.cells(all))
}

// byStep is a table with a row for each step and a column for each contender.
func byStep(r *sim.Report, from int, get func(at simPlace) simCell) Grid {
	t := Grid{Head: contenderHeads("step", r.Contenders)}
	for i := from; i < min(len(r.Steps), mostPageSteps+1); i++ {
		cells := make([]simCell, len(r.Contenders))
		for j := range cells {
			cells[j] = get(simPlace{r, i, j})
		}
		t.Rows = append(t.Rows, tableRow(stepName(r, i), r.Contenders, cells))
	}
	return t
}

func stepName(r *sim.Report, i int) string {
	return fmt.Sprintf("%d: %s", i, Clip(Printable(r.Steps[i].Event), 60))
}

// movedGrid has the least possible as its first figure.
func movedGrid(r *sim.Report) Grid {
	t := byStep(r, 1, movedCell)
	t.Head = append(t.Head[:1:1], append([]string{"least possible"}, t.Head[1:]...)...)
	for k, row := range t.Rows {
		step := &r.Steps[k+1]
		least := Cell{Text: Percent(Share(step.Least.Keys, copiesAfter(r, step))) + " %"}
		if len(step.LeastEach) > 0 {
			least.Text = None
		}
		t.Rows[k] = append(row[:1:1], append([]Cell{least}, row[1:]...)...)
	}
	return t
}

// movedCell is what moved in percent, and how often the least that is. The best is
// nearest to the least.
func movedCell(at simPlace) simCell {
	o := at.outcome()
	text := Percent(Share(o.Moved.Keys, copiesAfter(at.report, at.stepOf()))) + " %"
	if at.stepOf().LeastOf(at.contender).Keys > 0 {
		text += " (" + Ratio(o.Ratio) + " ×)"
	}
	return ranked(text, offLeast(o.Ratio))
}

func measureGrid(r *sim.Report, m balanceMeasure) Grid {
	return byStep(r, 0, func(at simPlace) simCell {
		v := m.of(&at.outcome().Balance)
		if m.unit == share {
			return ranked(Percent(v)+" %", v)
		}
		return ranked(Ratio(v), v)
	})
}

// loadGrid has a row for each step and contender.
func loadGrid(r *sim.Report, steps []int) Grid {
	t := Grid{Head: []string{"step", "strategy", "emptiest", "a tenth have less", "half have less", "a tenth have more", "fullest"}}
	for _, i := range steps {
		for j, c := range r.Contenders {
			row := []Cell{{Text: stepName(r, i)}, {Text: c.Name, Yardstick: c.Yardstick}}
			for _, q := range quantiles(loads(&r.Steps[i], j)) {
				row = append(row, Cell{Text: Ratio(q), Yardstick: c.Yardstick})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// stepGrid has all columns of a step, a row for each contender.
func stepGrid(r *sim.Report, i int) Grid {
	t := Grid{Head: []string{""}}
	rows := make([][]Cell, len(r.Contenders))
	for j, c := range r.Contenders {
		rows[j] = []Cell{{Text: c.Name, Yardstick: c.Yardstick}}
	}
	for _, c := range simColumns {
		if i == 0 && !c.start {
			continue
		}
		t.Head = append(t.Head, oneLine(c.head))
		cells := make([]simCell, len(rows))
		for j := range rows {
			cells[j] = c.get(simPlace{r, i, j})
		}
		for j, isBest := range bestOf(r.Contenders, cells) {
			rows[j] = append(rows[j], Cell{Text: cells[j].text, Best: isBest, Yardstick: r.Contenders[j].Yardstick})
		}
	}
	t.Rows = rows
	return t
}
