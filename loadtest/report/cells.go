package report

import (
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
)

// Width returns the number of terminal cells of a text.
func Width(s string) int { return text.StringWidth(s) }

// Wrap breaks a text into lines of at most width cells: between words, and inside a word
// that is longer. Text beyond the given number of lines is replaced by an ellipsis.
func Wrap(s string, cells, lines int) []string {
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
			head := take(word, cells)
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
	return strings.TrimRight(take(s, cells-1), " ") + "…"
}

// take returns the longest prefix of a text that has at most the given number of cells, but
// at least one character.
func take(s string, cells int) string {
	used := 0
	for i, r := range s {
		used += Width(string(r))
		if used > cells && i > 0 {
			return s[:i]
		}
	}
	return s
}
