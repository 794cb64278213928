package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// The tables of the page.

func simFacts(r *sim.Report, options PageOptions) [][2]string {
	s := r.Settings
	keys := Count(s.Keys) + ", made up"
	if s.KeyFile != "" {
		keys = Count(s.Keys) + ", from " + s.KeyFile
	}
	all := [][2]string{
		{"Scenario", s.Scenario},
		{"Order", s.Order},
		{"Seed", strconv.FormatUint(s.Seed, 10)},
		{"Nodes at the start", Count(s.Nodes)},
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
	return knownFacts(all)
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
	for j, isBest := range bestCells(contenders, cells) {
		row = append(row, Cell{Text: cells[j].text, Best: isBest, Yardstick: contenders[j].Yardstick})
	}
	return row
}

// scenarioGrid has a row for each figure of all steps.
func scenarioGrid(first string, r *sim.Report, figures []figure) Grid {
	t := Grid{Head: contenderHeads(first, r.Contenders)}
	for i := range figures {
		t.Rows = append(t.Rows, tableRow(figures[i].Name, r.Contenders, figures[i].ofScenario(r)))
	}
	return t
}

// byStep is a table with a row for each step and a column for each contender.
func byStep(r *sim.Report, from int, get func(i, j int) simCell) Grid {
	t := Grid{Head: contenderHeads("step", r.Contenders)}
	for i := from; i < min(len(r.Steps), mostPageSteps+1); i++ {
		cells := make([]simCell, len(r.Contenders))
		for j := range cells {
			cells[j] = get(i, j)
		}
		t.Rows = append(t.Rows, tableRow(stepName(r, i), r.Contenders, cells))
	}
	return t
}

func stepName(r *sim.Report, i int) string {
	return fmt.Sprintf("%d: %s", i, Clip(Printable(r.Steps[i].Event), 60))
}

// movedGrid has the least possible as its first figure, then what moved in percent, and how often the
// least that is. The best is nearest to the least.
func movedGrid(r *sim.Report) Grid {
	t := byStep(r, 1, func(i, j int) simCell {
		step := &r.Steps[i]
		o := &step.Outcomes[j]
		text := Percent(Share(o.Moved.Keys, copiesAfter(r, step))) + " %"
		if step.LeastOf(j).Keys > 0 {
			text += " (" + Ratio(o.Ratio) + " ×)"
		}
		return ranked(text, one.off(o.Ratio))
	})
	t.Head = slices.Insert(t.Head, 1, "least possible")
	for k := range t.Rows {
		step := &r.Steps[k+1]
		least := Cell{Text: Percent(Share(step.Least.Keys, copiesAfter(r, step))) + " %"}
		if len(step.LeastEach) > 0 {
			least.Text = None
		}
		t.Rows[k] = slices.Insert(t.Rows[k], 1, least)
	}
	return t
}

func measureGrid(r *sim.Report, m balanceMeasure) Grid {
	return byStep(r, 0, func(i, j int) simCell {
		v := m.of(&r.Steps[i].Outcomes[j].Balance)
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
	for _, f := range lists.Step {
		if i == 0 && !f.Start {
			continue
		}
		t.Head = append(t.Head, oneLine(f.Name))
		for j, cell := range tableRow("", r.Contenders, f.ofStep(r, i))[1:] {
			rows[j] = append(rows[j], cell)
		}
	}
	t.Rows = rows
	return t
}
