package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// terminal is the text of a table, and the width of its lines in cells.
type terminal struct {
	cells int
	color bool
	out   strings.Builder
}

func newTerminal(options TableOptions) *terminal {
	return &terminal{cells: max(options.Width, leastWidth), color: options.Color}
}

// line writes a paragraph of at most so many lines.
func (t *terminal) line(lines int, format string, args ...any) {
	for _, line := range Wrap(fmt.Sprintf(format, args...), t.cells, lines) {
		t.out.WriteString(line + "\n")
	}
}

func (t *terminal) write(w io.Writer) error {
	_, err := io.WriteString(w, t.out.String())
	return err
}

// A column of a table. All its texts stand on the right, or all on the left.
type column struct {
	head  string // may have several lines
	cells []string
	left  bool
	// least is the least width; before and after are how far its neighbours are away.
	least, before, after int
}

// texts are the lines of the head, then the cells.
func (c column) texts() []string { return append(strings.Split(c.head, "\n"), c.cells...) }

func (c column) width() int {
	width := c.least
	for _, s := range c.texts() {
		width = max(width, text.StringWidthWithoutEscSequences(s))
	}
	return c.before + width + c.after
}

func widthOf(columns []column) int {
	sum := 0
	for _, c := range columns {
		sum += c.width()
	}
	return sum
}

// beside splits columns into tables that fit, each with the first column, and at least one other.
func (t *terminal) beside(first column, others []column) [][]column {
	var tables [][]column
	for len(others) > 0 {
		n := 1
		for n < len(others) && first.width()+widthOf(others[:n+1]) <= t.cells {
			n++
		}
		tables = append(tables, append([]column{first}, others[:n]...))
		others = others[n:]
	}
	return tables
}

// lay writes columns side by side, with a rule below the head and above some rows.
func lay(columns []column, ruled ...int) string {
	rule := strings.Repeat("─", widthOf(columns)) + "\n"
	all := make([][]string, len(columns))
	most := 0
	for i, c := range columns {
		all[i] = c.texts()
		most = max(most, len(all[i]))
	}
	var b strings.Builder
	rows := len(columns[0].cells)
	for at := range most {
		if row := at - (most - rows); row == 0 || slices.Contains(ruled, row) {
			b.WriteString(rule)
		}
		line := ""
		for i, c := range columns {
			s := ""
			if k := at - (most - len(all[i])); k >= 0 { // heads end on the same line
				s = all[i][k]
			}
			room := strings.Repeat(" ", c.width()-c.before-c.after-text.StringWidthWithoutEscSequences(s))
			if c.left {
				s += room
			} else {
				s = room + s
			}
			line += strings.Repeat(" ", c.before) + s + strings.Repeat(" ", c.after)
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if rows == 0 {
		b.WriteString(rule)
	}
	return b.String()
}
