package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
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
