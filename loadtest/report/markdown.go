package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// Markdown writes the verdict, and tables as GitHub reads them: one of the whole runs, and one that has
// the most telling figures of each event. The best is bold, spreads over rounds stand in
// brackets.
func Markdown(w io.Writer, r *result.Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n", Escaped(verdict(r)))
	for _, note := range notes(r) {
		fmt.Fprintf(&b, "> %s\n\n", Escaped(oneLine(note)))
	}
	figuresGrid(r, "all of it", rows(r, nil)).Markdown(&b)
	if all := events(r); len(all) > 0 && len(r.Contestants) > 0 {
		t := Grid{Head: heads(r, "events")}
		for _, e := range all {
			for _, line := range rows(r, &e) {
				if !line.figure.Told {
					continue
				}
				cells := figuresGrid(r, "", []row{line}).Rows[0]
				cells[0].Text = e.label() + ": " + line.figure.fullName()
				t.Rows = append(t.Rows, cells)
			}
		}
		b.WriteByte('\n')
		t.Markdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// SimulationMarkdown writes two tables as GitHub reads them: what each step moved, and the
// summary. It leaves out whatever differs from run to run, times and the machine, so
// that the same settings make the same text. The best is bold.
func SimulationMarkdown(w io.Writer, r *sim.Report) error {
	var b strings.Builder
	if r.Stopped {
		fmt.Fprintf(&b, "%s\n\n", Escaped(stopped(r)))
	}
	if len(r.Steps) > 1 {
		t := movedGrid(r)
		for k := range t.Rows {
			t.Rows[k][0].Text += " (" + nodesOf(r, k+1) + ")"
		}
		t.Head[0] = "moved, of all copies"
		t.Markdown(&b)
		b.WriteByte('\n')
	}
	untimed := slices.DeleteFunc(slices.Clone(scenarioFigures(r)), func(f figure) bool { return f.Timed })
	scenarioGrid("all steps", r, untimed).Markdown(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// Markdown writes the table as GitHub reads it; the best is bold.
func (t Grid) Markdown(b *strings.Builder) {
	line := func(texts []string) { b.WriteString("| " + strings.Join(texts, " | ") + " |\n") }
	head := make([]string, len(t.Head))
	for i, h := range t.Head {
		head[i] = Escaped(h)
	}
	line(head)
	b.WriteString("|---|" + strings.Repeat("--:|", len(t.Head)-1) + "\n")
	for _, row := range t.Rows {
		texts := make([]string, len(row))
		for i, c := range row {
			texts[i] = Escaped(c.Text)
			if c.Best {
				texts[i] = "**" + texts[i] + "**"
			}
			if c.Soft != "" {
				texts[i] += " " + Escaped(c.Soft)
			}
		}
		line(texts)
	}
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, "`", "\\`", `[`, `\[`, `<`, `&lt;`, `&`, `&amp;`)

// Escaped is a text that means in Markdown what it says.
func Escaped(s string) string { return markdownEscapes.Replace(Printable(s)) }
