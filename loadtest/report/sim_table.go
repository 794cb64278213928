package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// SimulationTable writes a report for a terminal: what was asked for, a block for each step,
// and a summary of all. Lines take at most 80 cells unless the options give more.
func SimulationTable(w io.Writer, r *sim.Report, options TableOptions) error {
	t := simTerminal{terminal: newTerminal(options), report: r, wide: options.Wide}
	t.heading()
	for i := range r.Steps {
		t.step(i)
	}
	t.summary()
	t.notes()
	_, err := io.WriteString(w, t.out.String())
	return err
}

type simTerminal struct {
	terminal
	report *sim.Report
	wide   bool
}

func (t *simTerminal) heading() {
	for _, line := range settingsLines(t.report) {
		t.line(4, "%s", line)
	}
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
		text += fmt.Sprintf(" (%s at the start)", pluralCopies(copies))
	}
	return text
}

func pluralCopies(n int) string {
	if n == 1 {
		return "1 copy"
	}
	return fmt.Sprintf("%d copies", n)
}

func (t *simTerminal) step(i int) {
	t.out.WriteString("\n")
	t.line(3, "%s", stepTitle(t.report, i))

	var shown []simColumn
	for _, c := range simColumns {
		if (i > 0 || c.start) && (t.wide || !c.wide || i == 0) {
			shown = append(shown, c)
		}
	}
	text := t.stepTable(i, shown)
	for yields := 2; yields > 0 && !t.wide && !t.fits(text); yields-- {
		shown = slices.DeleteFunc(shown, func(c simColumn) bool { return c.yields == yields })
		text = t.stepTable(i, shown)
	}
	t.out.WriteString(text)
}

func (t *simTerminal) fits(text string) bool {
	for line := range strings.Lines(text) {
		if Width(strings.TrimSuffix(line, "\n")) > t.cells {
			return false
		}
	}
	return true
}

func (t *simTerminal) stepTable(i int, shown []simColumn) string {
	contenders := t.report.Contenders
	w := newWriter()
	head := table.Row{""}
	rows := make([]table.Row, len(contenders))
	for j, c := range contenders {
		rows[j] = table.Row{contenderName(c)}
	}
	for _, c := range shown {
		head = append(head, c.head)
		for j, text := range markedColumn(t.report, i, c) {
			rows[j] = append(rows[j], text)
		}
	}
	w.AppendHeader(head)
	for j, row := range rows {
		if j > 0 && contenders[j].Yardstick && !contenders[j-1].Yardstick {
			w.AppendSeparator()
		}
		w.AppendRow(row)
	}
	return rendered(w, len(head))
}

func contenderName(c sim.Contender) string { return Clip(Printable(c.Name), 14) }

// stepTitle is a step in one sentence.
func stepTitle(r *sim.Report, i int) string {
	step := &r.Steps[i]
	if i == 0 {
		return fmt.Sprintf("Step 0: %s · %s", step.Event, nodesOf(r, 0))
	}
	if len(step.LeastEach) > 0 { // each contender has its own
		return fmt.Sprintf("Step %d: %s · %s", i, step.Event, nodesOf(r, i))
	}
	return fmt.Sprintf("Step %d: %s · %s · least %s %% = %s, %s", i, step.Event, nodesOf(r, i),
		Percent(Share(step.Least.Keys, copiesAfter(r, step))), keyCopies(step.Least.Keys), Size(step.Least.Bytes))
}

// nodesOf is how many nodes there are after a step, and before it if those were others.
func nodesOf(r *sim.Report, i int) string {
	text := Plural(len(r.Steps[i].Nodes), "node")
	if before := len(r.Steps[max(0, i-1)].Nodes); before != len(r.Steps[i].Nodes) {
		text = Count(int64(before)) + " → " + text
	}
	return text
}

func keyCopies(n int64) string {
	if n == 1 {
		return "1 copy"
	}
	return Count(n) + " copies"
}

// markedColumn is a column of a step with its best marked; all texts make room for
// the mark.
func markedColumn(r *sim.Report, step int, c simColumn) []string {
	cells := make([]simCell, len(r.Contenders))
	for j := range cells {
		cells[j] = c.get(simPlace{r, step, j})
	}
	return marked(r.Contenders, cells)
}

func marked(contenders []sim.Contender, cells []simCell) []string {
	texts := make([]string, len(cells))
	for j, isBest := range bestOf(contenders, cells) {
		texts[j] = cells[j].text + " "
		if isBest {
			texts[j] = cells[j].text + mark
		}
	}
	return texts
}

// summary has a line for each figure and as many contenders side by side as fit.
func (t *simTerminal) summary() {
	all := SummarizeSimulation(t.report)
	title := "All " + Plural(len(t.report.Steps)-1, "step")
	if len(t.report.Steps) <= 2 {
		title = "Summary"
	}
	for from := 0; from < len(all); {
		to := from + 1
		text := t.summaryTable(all, from, to)
		for to < len(all) {
			more := t.summaryTable(all, from, to+1)
			if !t.fits(more) {
				break
			}
			text = more
			to++
		}
		t.out.WriteString("\n" + title + "\n" + text)
		from = to
	}
}

func (t *simTerminal) summaryTable(all []SimulationSummary, from, to int) string {
	w := newWriter()
	head := table.Row{""}
	for _, s := range all[from:to] {
		name := contenderName(s.Contender) + " "
		if s.Contender.Yardstick {
			name += "\n(yardstick)"
		}
		head = append(head, name)
	}
	w.AppendHeader(head)
	for _, f := range figuresOf(t.report) {
		row := table.Row{f.name}
		for _, text := range markedFigure(t.report.Contenders, all, f)[from:to] {
			row = append(row, text)
		}
		w.AppendRow(row)
	}
	return rendered(w, len(head))
}

func markedFigure(contenders []sim.Contender, all []SimulationSummary, f simFigure) []string {
	return marked(contenders, f.cells(all))
}

func (t *simTerminal) notes() {
	s := t.report.Settings
	t.out.WriteString("\n")
	if t.report.Stopped {
		t.line(3, "%s", stopped(t.report))
	}
	if len(t.report.Contenders) == 0 {
		return
	}
	t.line(3, "* the best; yardsticks, which can only be simulated, stand apart. Percentages are of all copies of keys, and least is the least that any strategy must move. --help explains every column.")
	machine := strings.Join(nonEmpty(s.Machine, s.Go), ", ")
	if machine != "" {
		machine = " on " + machine
	}
	t.line(3, "Took %s%s; seed %d", Duration(t.report.Took), machine, s.Seed)
}

// stopped describes how far an interrupted report goes.
func stopped(r *sim.Report) string {
	if len(r.Contenders) == 0 {
		return "Stopped early, before anything was done."
	}
	var names []string
	for _, c := range r.Contenders {
		names = append(names, c.Name)
	}
	return fmt.Sprintf("Stopped early: %s got through %s, and what is missing here was not done.",
		strings.Join(names, ", "), Plural(max(0, len(r.Steps)-1), "step"))
}

func nonEmpty(words ...string) []string {
	var left []string
	for _, word := range words {
		if word != "" {
			left = append(left, word)
		}
	}
	return left
}

func newWriter() table.Writer {
	w := table.NewWriter()
	style := table.StyleLight
	style.Options = table.Options{SeparateHeader: true}
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = " "
	style.Format.Header = text.FormatDefault
	w.SetStyle(style)
	w.SuppressTrailingSpaces()
	return w
}

func rendered(w table.Writer, columns int) string {
	configs := []table.ColumnConfig{{Number: 1, Align: text.AlignLeft}}
	for i := 2; i <= columns; i++ {
		configs = append(configs, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight, VAlignHeader: text.VAlignBottom})
	}
	w.SetColumnConfigs(configs)
	return w.Render() + "\n"
}
