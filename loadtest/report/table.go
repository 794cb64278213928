package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// TableOptions say how a table is laid out.
type TableOptions struct {
	// Width is that of the terminal in cells; below 80 it counts as 80.
	Width int
	// Color also marks the best by a colour, and makes spreads faint. Simulations have no colours.
	Color bool
	// Wide adds columns to the table of a simulation, whatever the width.
	Wide bool
}

const (
	leastWidth = 80
	nameWidth  = 17 // of figures
	headWidth  = 24 // of contestants, at most
)

// mark stands after the best of a row or a column.
const mark = "*"

// Table writes a report for a terminal: what was asked for, then each figure with all
// contestants side by side, event by event, and what else a reader must know. Lines take
// at most 80 cells unless the options give more; contestants that do not fit beside the
// others stand in tables of their own below.
func Table(w io.Writer, r *result.Report, options TableOptions) error {
	t := newTerminal(options)
	for _, line := range headingLines(r) {
		t.line(4, "%s", line)
	}
	if len(r.Contestants) > 0 {
		t.block("All of it", r, rows(r, nil))
		for _, e := range events(r) {
			t.block(capital(e.title(r)), r, rows(r, &e))
		}
	}
	t.out.WriteString("\n")
	for _, note := range notes(r) {
		t.line(6, "%s", note)
	}
	if legend := legendText(r); legend != "" {
		t.line(4, "%s %s", mark, legend)
	}
	return t.write(w)
}

// headingLines say what was asked for.
func headingLines(r *result.Report) []string {
	first := fmt.Sprintf("%s in %s, took %s", Plural(len(r.Contestants), "contestant"), Plural(r.Rounds, "round"), seconds(r.TookSeconds))
	if m := machine(r.Machine); m != "" {
		first += ", on " + m
	}
	lines := []string{first}
	if r.Script != "" {
		lines = append(lines, "script: "+r.Script)
	}
	var chosen []string
	for _, s := range r.Settings {
		if !s.Default && s.Name != "script" {
			chosen = append(chosen, "--"+s.Name+" "+s.Value)
		}
	}
	if len(chosen) > 0 {
		lines = append(lines, "chosen: "+strings.Join(chosen, " "))
	}
	return lines
}

func machine(m result.Machine) string {
	var cores, memory, system string
	if m.Cores > 0 {
		cores = Plural(m.Cores, "core")
	}
	if m.MemoryBytes > 0 {
		memory = Size(m.MemoryBytes)
	}
	if m.OS != "" {
		system = strings.TrimSuffix(m.OS+"/"+m.Arch, "/")
	}
	return strings.Join(nonEmpty(m.CPU, cores, memory, system), ", ")
}

// block is a table of rows, or several below each other.
func (t *terminal) block(title string, r *result.Report, rows []row) {
	if len(rows) == 0 {
		return
	}
	t.out.WriteString("\n")
	t.line(2, "%s", title)
	first := column{left: true, least: nameWidth}
	for _, row := range rows {
		first.cells = append(first.cells, row.name)
	}
	columns := make([]column, len(r.Contestants))
	for j := range columns {
		columns[j] = column{head: Clip(Printable(heading(&r.Contestants[j])), headWidth), left: true, before: 2, cells: t.figures(rows, j)}
	}
	for k, part := range t.beside(first, columns) {
		if k > 0 {
			t.out.WriteString("\n")
		}
		t.out.WriteString(lay(part))
	}
}

// figures are those of one contestant: values on the right with room for a mark, then spreads on the left.
func (t *terminal) figures(rows []row, j int) []string {
	values, spreads := make([]string, len(rows)), make([]string, len(rows))
	valueWidth, spreadWidth := 0, 0
	for i, r := range rows {
		// Without the space before the unit, three contestants with spreads fit 80 cells.
		values[i] = strings.ReplaceAll(r.values[j].text(r.figure.Unit), " ", "")
		spreads[i] = r.values[j].spread(r.figure.Unit)
		valueWidth, spreadWidth = max(valueWidth, Width(values[i])), max(spreadWidth, Width(spreads[i]))
	}
	for i, r := range rows {
		text, marked := strings.Repeat(" ", valueWidth-Width(values[i]))+values[i], " "
		if r.best[j] {
			text, marked = t.colored("\x1b[1;32m", text), mark
		}
		values[i] = text + marked
		if spreadWidth > 0 {
			values[i] += " " + t.colored("\x1b[2m", spreads[i])
		}
	}
	return values
}

func (t *terminal) colored(with, text string) string {
	if !t.color || strings.TrimSpace(text) == "" {
		return text
	}
	return with + text + "\x1b[0m"
}

// heading is a contestant's name, and whether there is only a part of it, or nothing.
func heading(c *result.Contestant) string {
	switch {
	case len(c.Runs) == 0:
		return c.Name + " (not run)"
	case !ended(c):
		return c.Name + " (part)"
	}
	return c.Name
}

// legendText explains marks and spreads; empty if there are none.
func legendText(r *result.Report) string {
	text := ""
	if len(r.Contestants) > 1 && r.Rounds > 1 {
		text = "the best of its row; those share it whose spread over the rounds touches that of the best."
	}
	if r.Rounds > 1 {
		text += " Figures are the median of the rounds, then the lowest..highest; of failed, unknown, lost, stale and corrupt the worst."
	}
	return strings.TrimSpace(text)
}

// notes are what a reader must know, the worst first.
func notes(r *result.Report) []string {
	var all []string
	if r.Interrupted {
		all = append(all, "Interrupted: what is missing here was not done.")
	}
	for i := range r.Contestants {
		c := &r.Contestants[i]
		if len(c.Runs) == 0 {
			all = append(all, c.Name+" did not run.")
		}
		for j := range c.Runs {
			run := &c.Runs[j]
			if run.Failure != "" {
				all = append(all, fmt.Sprintf("%s, round %d, did not come to its end: %s", c.Name, run.Round, run.Failure))
			}
			if k := run.Checked; k != nil {
				if k.Lost+k.Stale+k.Corrupt > 0 {
					all = append(all, fmt.Sprintf("%s, round %d: of %s answers %d were lost, %d stale and %d corrupt.", c.Name, run.Round, Count(k.Reads), k.Lost, k.Stale, k.Corrupt))
				}
				for _, example := range k.Examples[:min(3, len(k.Examples))] {
					all = append(all, fmt.Sprintf("%s, round %d: %s", c.Name, run.Round, example))
				}
			}
		}
	}
	if len(r.Contestants) > 1 && r.Rounds == 1 {
		all = append(all, "One round: nothing is marked as the best, for differences may be chance.")
	}
	return append(all, r.Notes...)
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
