package report

import "strings"

// A Grid is a table: the first column is what a row is about.
type Grid struct {
	Head []string `json:"head"`
	Rows [][]Cell `json:"rows"`
}

// A Cell is a figure in a table.
type Cell struct {
	Text string `json:"t"`
	Soft string `json:"s,omitempty"` // what is said beside it, with less weight
	Best bool   `json:"b,omitempty"` // of its row
	// Yardstick reports whether it is not one of those that are compared.
	Yardstick bool `json:"y,omitempty"`
}

// both is the text and what is said beside it.
func (c Cell) both() string { return strings.TrimSpace(c.Text + " " + c.Soft) }

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
