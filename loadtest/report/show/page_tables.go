package show

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// The tables of the page.

func facts(r *sim.Report, options PageOptions) [][2]string {
	s := r.Settings
	keys := report.Count(int64(s.Keys)) + ", made up"
	if s.KeyFile != "" {
		keys = report.Count(int64(s.Keys)) + ", from " + s.KeyFile
	}
	all := [][2]string{
		{"Scenario", s.Scenario},
		{"Order", s.Order},
		{"Seed", strconv.FormatUint(s.Seed, 10)},
		{"Nodes at the start", report.Count(int64(s.Nodes))},
		{"Backups", backups(s)},
		{"Keys", keys},
		{"Bytes of keys and values", report.Size(s.Bytes)},
		{"Hash", s.Hash},
		{"Zipf requests", "exponent " + report.Plain(s.ZipfTheta)},
		{"Hotspot requests", fmt.Sprintf("%s %% of requests go to %s %% of the keys", report.Percent(s.HotShare), report.Percent(s.HotKeys))},
		{"Machine", strings.Join(nonEmpty(s.Machine, s.Go), ", ")},
		{"Ringside", options.Version},
		{"Took", report.Duration(r.Took)},
	}
	var known [][2]string
	for _, f := range all {
		if f[1] != "" {
			known = append(known, [2]string{f[0], report.Printable(f[1])})
		}
	}
	return known
}

// heads names the contenders above their columns.
func heads(first string, contenders []sim.Contender) []string {
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
func tableRow(name string, contenders []sim.Contender, cells []cell) []report.Cell {
	row := []report.Cell{{Text: name}}
	for j, isBest := range best(contenders, cells) {
		row = append(row, report.Cell{Text: cells[j].text, Best: isBest, Yardstick: contenders[j].Yardstick})
	}
	return row
}

func summaryGrid(r *sim.Report) report.Grid {
	t := report.Grid{Head: heads("", r.Contenders)}
	all := Summarize(r)
	for _, f := range figures {
		t.Rows = append(t.Rows, f.row(r.Contenders, all))
	}
	return t
}

func (f figure) row(contenders []sim.Contender, all []Summary) []report.Cell {
	return tableRow(f.name, contenders, f.cells(all))
}

// byStep is a table with a row for each step and a column for each contender.
func byStep(r *sim.Report, from int, get func(at place) cell) report.Grid {
	t := report.Grid{Head: heads("step", r.Contenders)}
	for i := from; i < min(len(r.Steps), mostPageSteps+1); i++ {
		cells := make([]cell, len(r.Contenders))
		for j := range cells {
			cells[j] = get(place{r, i, j})
		}
		t.Rows = append(t.Rows, tableRow(stepName(r, i), r.Contenders, cells))
	}
	return t
}

func stepName(r *sim.Report, i int) string {
	return fmt.Sprintf("%d: %s", i, report.Clip(report.Printable(r.Steps[i].Event), 60))
}

// movedGrid has the least possible as its first figure.
func movedGrid(r *sim.Report) report.Grid {
	t := byStep(r, 1, movedCell)
	t.Head = append(t.Head[:1:1], append([]string{"least possible"}, t.Head[1:]...)...)
	for k, row := range t.Rows {
		step := &r.Steps[k+1]
		least := report.Cell{Text: report.Percent(report.Share(step.Least.Keys, copiesAfter(r, step))) + " %"}
		t.Rows[k] = append(row[:1:1], append([]report.Cell{least}, row[1:]...)...)
	}
	return t
}

// movedCell is what moved in percent, and how often the least that is. The best is
// nearest to the least.
func movedCell(at place) cell {
	o := at.outcome()
	text := report.Percent(report.Share(o.Moved.Keys, copiesAfter(at.report, at.stepOf()))) + " %"
	if at.stepOf().Least.Keys > 0 {
		text += " (" + report.Ratio(o.Ratio) + " ×)"
	}
	return ranked(text, offLeast(o.Ratio))
}

func measureGrid(r *sim.Report, m measure) report.Grid {
	return byStep(r, 0, func(at place) cell {
		v := m.of(&at.outcome().Balance)
		if m.even == 0 {
			return ranked(report.Percent(v/100)+" %", v)
		}
		return ranked(report.Ratio(v), v)
	})
}

// loadGrid has a row for each step and contender.
func loadGrid(r *sim.Report, steps []int) report.Grid {
	t := report.Grid{Head: []string{"step", "strategy", "emptiest", "a tenth have less", "half have less", "a tenth have more", "fullest"}}
	for _, i := range steps {
		for j, c := range r.Contenders {
			row := []report.Cell{{Text: stepName(r, i)}, {Text: c.Name, Yardstick: c.Yardstick}}
			for _, q := range quantiles(loads(&r.Steps[i], j)) {
				row = append(row, report.Cell{Text: report.Ratio(q), Yardstick: c.Yardstick})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// stepGrid has all columns of a step, a row for each contender.
func stepGrid(r *sim.Report, i int) report.Grid {
	t := report.Grid{Head: []string{""}}
	rows := make([][]report.Cell, len(r.Contenders))
	for j, c := range r.Contenders {
		rows[j] = []report.Cell{{Text: c.Name, Yardstick: c.Yardstick}}
	}
	for _, c := range columns {
		if i == 0 && !c.start {
			continue
		}
		t.Head = append(t.Head, oneLine(c.head))
		cells := make([]cell, len(rows))
		for j := range rows {
			cells[j] = c.get(place{r, i, j})
		}
		for j, isBest := range best(r.Contenders, cells) {
			rows[j] = append(rows[j], report.Cell{Text: cells[j].text, Best: isBest, Yardstick: r.Contenders[j].Yardstick})
		}
	}
	t.Rows = rows
	return t
}
