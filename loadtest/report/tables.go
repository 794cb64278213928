package report

import (
	"slices"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// A Grid is a table: the first column is what a row is about.
type Grid struct {
	Head []string `json:"head"`
	Rows [][]Cell `json:"rows"`
}

// A Cell is a figure in a table.
type Cell struct {
	Text string `json:"t"`
	Soft string `json:"s,omitempty"` // what is said beside it, with less weight
	Best bool   `json:"b,omitempty"` // of its row
	// Yardstick reports whether it is not one of those that are compared.
	Yardstick bool `json:"y,omitempty"`
}

// marked is the text with its mark, or room for it.
func (c Cell) marked() string {
	if c.Best {
		return c.Text + mark
	}
	return c.Text + " "
}

// both is the text and what is said beside it.
func (c Cell) both() string { return strings.TrimSpace(c.Text + " " + c.Soft) }

// columns are those of the table for a terminal, with the text of each cell but the first of its row.
func (t Grid) columns(text func(Cell) string) []column {
	columns := make([]column, len(t.Head))
	for i, head := range t.Head {
		columns[i] = column{head: head, left: i == 0, after: 1}
		for _, row := range t.Rows {
			if i == 0 {
				columns[i].cells = append(columns[i].cells, row[i].Text)
			} else {
				columns[i].cells = append(columns[i].cells, text(row[i]))
			}
		}
	}
	return columns
}

// figuresGrid has a row for each figure and a column for each contestant.
func figuresGrid(r *result.Report, first string, rows []row) Grid {
	t := Grid{Head: heads(r, first)}
	for _, line := range rows {
		t.Rows = append(t.Rows, append(textRow(line.name), valueCells(line)...))
	}
	return t
}

func valueCells(line row) []Cell {
	cells := make([]Cell, len(line.values))
	for j, v := range line.values {
		cells[j] = valueCell(line.figure, v, line.best[j])
	}
	return cells
}

func valueCell(f *figure, v value, best bool) Cell {
	cell := Cell{Text: v.text(f.Unit), Best: best}
	if spread := v.spread(f.Unit); spread != "" {
		cell.Soft = "(" + spread + ")"
	}
	return cell
}

func heads(r *result.Report, first string) []string {
	all := []string{first}
	for i := range r.Contestants {
		all = append(all, Clip(Printable(heading(&r.Contestants[i])), 40))
	}
	return all
}

// addColumn adds a figure of each element of a list.
func addColumn[T any](t *Grid, f *figure, all []T, number func(*T) (float64, bool)) {
	t.Head = append(t.Head, f.Name)
	for k := range all {
		text := None
		if x, known := number(&all[k]); known {
			text = f.Unit.text(x)
		}
		t.Rows[k] = append(t.Rows[k], Cell{Text: text})
	}
}

// phasesGrid has the phases of a run.
func phasesGrid(run *result.Run) Grid {
	phases := append(slices.Clone(run.Phases[:min(len(run.Phases), mostPageEvents)]), run.All)
	t := Grid{Head: []string{"step"}}
	for i := range phases {
		name := Clip(Printable(phases[i].Name), 40)
		if i == len(phases)-1 {
			name = "all of it"
		}
		t.Rows = append(t.Rows, textRow(name))
	}
	for i := range lists().Phase {
		addColumn(&t, &lists().Phase[i], phases, lists().Phase[i].phase)
	}
	return t
}

// commandsGrid has the commands of the whole run.
func commandsGrid(run *result.Run) Grid {
	t := Grid{Head: []string{"command"}}
	for i := range run.All.Commands {
		t.Rows = append(t.Rows, textRow(Clip(Printable(run.All.Commands[i].Command), 40)))
	}
	for i := range lists().Command {
		addColumn(&t, &lists().Command[i], run.All.Commands, lists().Command[i].command)
	}
	return t
}

// distributionGrid has the figures of the chart of distributions.
func distributionGrid(r *result.Report, all []*hdrhistogram.Histogram) Grid {
	t := Grid{Head: heads(r, "percent")}
	for _, p := range percentiles {
		cells := []string{strconv.FormatFloat(p, 'f', -1, 64)}
		for _, h := range all {
			text := None
			// Of fewer operations the figure would be that of the slowest.
			if h != nil && float64(h.TotalCount())*(1-p/100) >= 1 {
				text = micros.text(float64(h.ValueAtPercentile(p)))
			}
			cells = append(cells, text)
		}
		t.Rows = append(t.Rows, textRow(cells...))
	}
	return t
}

func settingsGrid(r *result.Report) Grid {
	t := Grid{Head: []string{"setting", "value", ""}}
	for _, s := range r.Settings {
		chosen := "chosen"
		if s.Default {
			chosen = "default"
		}
		t.Rows = append(t.Rows, textRow(Printable("--"+s.Name), Printable(s.Value), chosen))
	}
	return t
}

// facts are what else is known of the test.
func facts(r *result.Report) [][2]string {
	all := [][2]string{
		{"Script", r.Script}, {"Machine", machine(r.Machine)}, {"Kernel", r.Machine.Kernel}, {"Ringside", r.Ringside}, {"Go", r.Machine.Go},
		{"Rounds", Count(r.Rounds)}, {"Windows", seconds(r.WindowMS/1000) + " long"}, {"Took", seconds(r.TookSeconds)},
	}
	if !r.Began.IsZero() {
		all = append(all, [2]string{"Began", r.Began.UTC().Format("2006-01-02 15:04:05 UTC")})
	}
	return knownFacts(all)
}

// knownFacts are those with a text.
func knownFacts(all [][2]string) [][2]string {
	for i := range all {
		all[i][1] = Printable(all[i][1])
	}
	return slices.DeleteFunc(all, func(f [2]string) bool { return f[1] == "" })
}

func textRow(texts ...string) []Cell {
	cells := make([]Cell, len(texts))
	for i, text := range texts {
		cells[i].Text = text
	}
	return cells
}
