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

// cellsOf is the width of a text that may have colours.
func cellsOf(s string) int { return text.StringWidthWithoutEscSequences(s) }

// texts are the lines of the head, then the cells.
func (c column) texts() []string { return append(strings.Split(c.head, "\n"), c.cells...) }

func (c column) width() int {
	width := c.least
	for _, s := range c.texts() {
		width = max(width, cellsOf(s))
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
			room := strings.Repeat(" ", c.width()-c.before-c.after-cellsOf(s))
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

// Width returns the number of terminal cells of a text.
func Width(s string) int { return text.StringWidth(s) }

// Wrap breaks a text into lines of at most width cells: between words, and inside a word
// that is longer. Text beyond the given number of lines is replaced by an ellipsis.
func Wrap(s string, cells, lines int) []string {
	cells = max(cells, 2) // a wide character takes two
	var out []string
	line, used := "", 0
	full := func() bool { return len(out) == lines-1 }
	for _, word := range strings.Fields(Printable(shortened(s, cells, lines))) {
		need := Width(word)
		if line != "" && used+1+need <= cells {
			line += " " + word
			used += 1 + need
			continue
		}
		if line != "" {
			if full() {
				return append(out, Clip(line+" "+word, cells))
			}
			out = append(out, line)
		}
		for need > cells {
			if full() {
				return append(out, Clip(word, cells))
			}
			head := text.Trim(word, cells)
			out = append(out, head)
			word = word[len(head):]
			need = Width(word)
		}
		line, used = word, need
	}
	if line != "" || len(out) == 0 {
		out = append(out, line)
	}
	return out
}

// shortened cuts off text that cannot fit in any case, which bounds the time. It may also
// cut letters with many combining marks.
func shortened(s string, cells, lines int) string {
	most := 16 * (cells + 1) * lines
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Clip shortens a text to a number of cells and marks the cut with an ellipsis.
func Clip(s string, cells int) string {
	if Width(s) <= cells {
		return s
	}
	return strings.TrimRight(text.Trim(s, cells-1), " ") + "…"
}
