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

// terminal is the text of a table, and the width of its lines in cells.
type terminal struct {
	cells int
	out   strings.Builder
}

func newTerminal(options TableOptions) terminal {
	return terminal{cells: max(options.Width, leastWidth)}
}

// line writes a paragraph of at most so many lines.
func (t *terminal) line(lines int, format string, args ...any) {
	for _, line := range Wrap(fmt.Sprintf(format, args...), t.cells, lines) {
		t.out.WriteString(line + "\n")
	}
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
	t := figureTables{terminal: newTerminal(options), report: r, color: options.Color}
	t.heading()
	if len(r.Contestants) > 0 {
		t.block("All of it", rows(r, nil))
		for _, e := range events(r) {
			t.block(capital(e.title(r)), rows(r, &e))
		}
	}
	t.notes()
	_, err := io.WriteString(w, t.out.String())
	return err
}

type figureTables struct {
	terminal
	report *result.Report
	color  bool
}

func (t *figureTables) heading() {
	for _, line := range headingLines(t.report) {
		t.line(4, "%s", line)
	}
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
	var words []string
	if m.CPU != "" {
		words = append(words, m.CPU)
	}
	if m.Cores > 0 {
		words = append(words, Plural(m.Cores, "core"))
	}
	if m.MemoryBytes > 0 {
		words = append(words, Size(m.MemoryBytes))
	}
	if m.OS != "" {
		words = append(words, strings.TrimSuffix(m.OS+"/"+m.Arch, "/"))
	}
	return strings.Join(words, ", ")
}

// block is a table of rows, or several below each other.
func (t *figureTables) block(title string, rows []row) {
	if len(rows) == 0 {
		return
	}
	t.out.WriteString("\n")
	t.line(2, "%s", title)
	columns := make([]tableColumn, len(t.report.Contestants))
	for j := range columns {
		columns[j] = newTableColumn(&t.report.Contestants[j], j, rows)
	}
	for from := 0; from < len(columns); {
		to, used := from, nameWidth
		for to < len(columns) && (to == from || used+2+columns[to].width() <= t.cells) {
			used += 2 + columns[to].width()
			to++
		}
		if from > 0 {
			t.out.WriteString("\n")
		}
		t.columns(rows, columns[from:to])
		from = to
	}
}

func (t *figureTables) columns(rows []row, columns []tableColumn) {
	var lines []string
	head := strings.Repeat(" ", nameWidth)
	rule := strings.Repeat("─", nameWidth)
	for _, c := range columns {
		head += "  " + c.head + strings.Repeat(" ", c.width()-Width(c.head))
		rule += "──" + strings.Repeat("─", c.width())
	}
	lines = append(lines, head, rule)
	for i, r := range rows {
		line := r.name + strings.Repeat(" ", nameWidth-Width(r.name))
		for _, c := range columns {
			cell := c.cells[i]
			text := strings.Repeat(" ", c.value-Width(cell.text)) + cell.text
			marked := " "
			if cell.best {
				marked = mark
				text = t.colored("\x1b[1;32m", text)
			}
			line += "  " + text + marked
			if c.spread > 0 {
				line += " " + t.colored("\x1b[2m", cell.spread) + strings.Repeat(" ", c.spread-Width(cell.spread))
			}
			line += strings.Repeat(" ", c.width()-c.taken())
		}
		lines = append(lines, line)
	}
	for _, line := range lines {
		t.out.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

func (t *figureTables) colored(with, text string) string {
	if !t.color || strings.TrimSpace(text) == "" {
		return text
	}
	return with + text + "\x1b[0m"
}

// A tableColumn is that of one contestant: values to the right with room for a mark, then
// spreads to the left.
type tableColumn struct {
	head          string
	value, spread int // widths
	cells         []tableCell
}

type tableCell struct {
	text, spread string
	best         bool
}

func newTableColumn(c *result.Contestant, j int, rows []row) tableColumn {
	column := tableColumn{head: Clip(Printable(heading(c)), headWidth)}
	for _, r := range rows {
		v := r.values[j]
		// Without the space before the unit, three contestants with spreads fit 80 cells.
		cell := tableCell{strings.ReplaceAll(v.text(r.figure.unit), " ", ""), v.spread(r.figure.unit), r.best[j]}
		column.value = max(column.value, Width(cell.text))
		column.spread = max(column.spread, Width(cell.spread))
		column.cells = append(column.cells, cell)
	}
	return column
}

// heading is a contestant's name, and whether there is only a part of it, or nothing.
func heading(c *result.Contestant) string {
	if len(c.Runs) == 0 {
		return c.Name + " (not run)"
	}
	for i := range c.Runs {
		if c.Runs[i].Failure == "" {
			return c.Name
		}
	}
	return c.Name + " (part)"
}

func (c tableColumn) taken() int {
	if c.spread > 0 {
		return c.value + 1 + 1 + c.spread
	}
	return c.value + 1
}

func (c tableColumn) width() int { return max(c.taken(), Width(c.head)) }

func (t *figureTables) notes() {
	t.out.WriteString("\n")
	for _, note := range notes(t.report) {
		t.line(6, "%s", note)
	}
	if legend := legendText(t.report); legend != "" {
		t.line(4, "%s %s", mark, legend)
	}
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
