package show

import (
	"fmt"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/report"
)

// Glossary explains every column, one name and text each: first those of the steps,
// then the lines of the summary.
func Glossary() (steps, summary [][2]string) {
	for _, c := range columns {
		steps = append(steps, [2]string{oneLine(c.head), c.help})
	}
	for _, f := range figures {
		summary = append(summary, [2]string{f.name, f.help})
	}
	return steps, summary
}

// WriteGlossary writes the glossary for a terminal of so many cells.
func WriteGlossary(w io.Writer, cells int) error {
	const indent, nameCells = 2, 19
	var b strings.Builder
	write := func(entries [][2]string) {
		for _, e := range entries {
			for i, line := range report.Wrap(e[1], max(20, cells-indent-nameCells), 100) {
				name := ""
				if i == 0 {
					name = e[0]
				}
				fmt.Fprintf(&b, "%*s%s%*s%s\n", indent, "", name, max(1, nameCells-report.Width(name)), "", line)
			}
		}
	}
	steps, summary := Glossary()
	write(steps)
	b.WriteString("\nThe summary has a line for each of:\n")
	write(summary)
	_, err := io.WriteString(w, b.String())
	return err
}

func oneLine(head string) string {
	return strings.TrimSpace(strings.ReplaceAll(head, "\n", " "))
}
