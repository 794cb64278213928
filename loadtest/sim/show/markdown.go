package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// Markdown writes two tables as GitHub reads them: what each step moved, and the
// summary. It leaves out whatever differs from run to run, times and the machine, so
// that the same settings make the same text. The best is bold.
func Markdown(w io.Writer, r *sim.Report) error {
	var b strings.Builder
	if r.Stopped {
		fmt.Fprintf(&b, "%s\n\n", escaped(stopped(r)))
	}
	if len(r.Steps) > 1 {
		t := movedGrid(r)
		for k := range t.Rows {
			t.Rows[k][0].Text += " (" + nodesOf(r, k+1) + ")"
		}
		t.Head[0] = "moved, of all copies"
		t.markdown(&b)
		b.WriteByte('\n')
	}
	t := grid{Head: heads("all steps", r.Contenders)}
	all := Summarize(r)
	for _, f := range figures {
		if !f.timed {
			t.Rows = append(t.Rows, f.row(r.Contenders, all))
		}
	}
	t.markdown(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

func (t grid) markdown(b *strings.Builder) {
	line := func(texts []string) { b.WriteString("| " + strings.Join(texts, " | ") + " |\n") }
	head := make([]string, len(t.Head))
	for i, h := range t.Head {
		head[i] = escaped(h)
	}
	line(head)
	b.WriteString("|---|" + strings.Repeat("--:|", len(t.Head)-1) + "\n")
	for _, row := range t.Rows {
		texts := make([]string, len(row))
		for i, c := range row {
			texts[i] = escaped(c.Text)
			if c.Best {
				texts[i] = "**" + texts[i] + "**"
			}
		}
		line(texts)
	}
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, "`", "\\`", `[`, `\[`, `<`, `&lt;`, `&`, `&amp;`)

func escaped(s string) string { return markdownEscapes.Replace(printable(s)) }
