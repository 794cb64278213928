package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

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
