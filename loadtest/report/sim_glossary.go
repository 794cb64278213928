package report

import (
	"fmt"
	"io"
	"strings"
)

// SimulationGlossary explains every column, one name and text each: first those of the steps,
// then the lines of the summary.
func SimulationGlossary() (steps, summary [][2]string) {
	for _, c := range simColumns {
		steps = append(steps, [2]string{oneLine(c.head), c.help})
	}
	for _, f := range simFigures {
		summary = append(summary, [2]string{f.name, f.help})
	}
	return steps, summary
}

// WriteSimulationGlossary writes the glossary for a terminal of so many cells.
func WriteSimulationGlossary(w io.Writer, cells int) error {
	const indent, nameCells = 2, 19
	var b strings.Builder
	write := func(entries [][2]string) {
		for _, e := range entries {
			for i, line := range Wrap(e[1], max(20, cells-indent-nameCells), 100) {
				name := ""
				if i == 0 {
					name = e[0]
				}
				fmt.Fprintf(&b, "%*s%s%*s%s\n", indent, "", name, max(1, nameCells-Width(name)), "", line)
			}
		}
	}
	steps, summary := SimulationGlossary()
	write(steps)
	b.WriteString("\nThe summary has a line for each of:\n")
	write(summary)
	_, err := io.WriteString(w, b.String())
	return err
}
