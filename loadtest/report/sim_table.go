package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// SimulationTable writes a report for a terminal: what was asked for, a block for each step,
// and a summary of all. Lines take at most 80 cells unless the options give more.
func SimulationTable(w io.Writer, r *sim.Report, options TableOptions) error {
	t := newTerminal(options)
	for _, line := range settingsLines(r) {
		t.line(4, "%s", line)
	}
	for i := range r.Steps {
		t.out.WriteString("\n")
		t.line(3, "%s", stepTitle(r, i))
		t.step(r, i, options.Wide)
	}
	t.summary(r)
	t.out.WriteString("\n")
	if r.Stopped {
		t.line(3, "%s", stopped(r))
	}
	if len(r.Contenders) > 0 {
		t.line(3, "* the best; yardsticks, which can only be simulated, stand apart. Percentages are of all copies of keys, and least is the least that any strategy must move. --help explains every column.")
		machine := strings.Join(nonEmpty(r.Settings.Machine, r.Settings.Go), ", ")
		if machine != "" {
			machine = " on " + machine
		}
		t.line(3, "Took %s%s; seed %d", Duration(r.Took), machine, r.Settings.Seed)
	}
	return t.write(w)
}

// settingsLines are the settings in words.
func settingsLines(r *sim.Report) []string {
	s := r.Settings
	keys := Plural(s.Keys, "key")
	if s.KeyFile != "" {
		keys += " of " + s.KeyFile
	}
	lines := []string{
		fmt.Sprintf("%s, %s (%s), %s, hash %s, order %s, seed %d",
			nodesAtStart(s), keys, Size(s.Bytes), backups(s), s.Hash, s.Order, s.Seed),
	}
	if s.Scenario != "" {
		lines = append(lines, "scenario: "+s.Scenario)
	}
	return lines
}

// nodesAtStart says how many nodes there are at the start, and in how many zones.
func nodesAtStart(s sim.Settings) string {
	if s.Zones == 0 {
		return Plural(s.Nodes, "node")
	}
	return fmt.Sprintf("%s in %s", Plural(s.Nodes, "node"), Plural(s.Zones, "zone"))
}

// backups says how many copies there are, and when they are fewer than asked for.
func backups(s sim.Settings) string {
	text := Plural(s.Backups, "backup")
	if copies := max(1, min(s.Backups+1, s.Nodes)); copies <= s.Backups {
		text += fmt.Sprintf(" (%s at the start)", keyCopies(int64(copies)))
	}
	return text
}

// step has a line for each contender. Columns go that do not fit.
func (t *terminal) step(r *sim.Report, i int, wide bool) {
	table := func(yields int) []column {
		g := stepGrid(r, i, func(f *figure) bool { return (wide || !f.Wide || i == 0) && f.Yields < yields })
		for _, row := range g.Rows {
			row[0].Text = contenderName(row[0].Text)
		}
		return g.columns(Cell.marked)
	}
	yields := 3
	for yields > 1 && !wide && widthOf(table(yields)) > t.cells {
		yields--
	}
	var ruled []int // above the yardsticks
	for j, c := range r.Contenders {
		if j > 0 && c.Yardstick && !r.Contenders[j-1].Yardstick {
			ruled = append(ruled, j)
		}
	}
	t.out.WriteString(lay(table(yields), ruled...))
}

func contenderName(name string) string { return Clip(Printable(name), 14) }

// stepTitle is a step in one sentence.
func stepTitle(r *sim.Report, i int) string {
	step := &r.Steps[i]
	title := fmt.Sprintf("Step %d: %s · %s", i, step.Event, nodesOf(r, i))
	if i == 0 || len(step.LeastEach) > 0 { // where each contender has its own least
		return title
	}
	return title + fmt.Sprintf(" · least %s %% = %s, %s", Percent(leastShare(r, i)), keyCopies(step.Least.Keys), Size(step.Least.Bytes))
}

// nodesOf is how many nodes there are after a step, and before it if those were others.
func nodesOf(r *sim.Report, i int) string {
	text := Plural(len(r.Steps[i].Nodes), "node")
	if before := len(r.Steps[max(0, i-1)].Nodes); before != len(r.Steps[i].Nodes) {
		text = Count(before) + " → " + text
	}
	return text
}

func keyCopies(n int64) string {
	if n == 1 {
		return "1 copy"
	}
	return Count(n) + " copies"
}

// summary has a line for each figure and as many contenders side by side as fit.
func (t *terminal) summary(r *sim.Report) {
	title := "All " + Plural(len(r.Steps)-1, "step")
	if len(r.Steps) <= 2 {
		title = "Summary"
	}
	columns := scenarioGrid("", r, scenarioFigures(r)).columns(Cell.marked)
	for j, c := range r.Contenders {
		columns[j+1].head = contenderName(c.Name) + " "
		if c.Yardstick {
			columns[j+1].head += "\n(yardstick)"
		}
	}
	for _, part := range t.beside(columns[0], columns[1:]) {
		t.out.WriteString("\n" + title + "\n" + lay(part))
	}
}

// stopped describes how far an interrupted report goes.
func stopped(r *sim.Report) string {
	if len(r.Contenders) == 0 {
		return "Stopped early, before anything was done."
	}
	return fmt.Sprintf("Stopped early: %s got through %s, and what is missing here was not done.",
		strings.Join(contenderNames(r.Contenders), ", "), Plural(max(0, len(r.Steps)-1), "step"))
}
