package report

import (
	"strings"
	"testing"
)

func TestMarkdownAgreesWithTheTable(t *testing.T) {
	g := Grid{Head: []string{"", "a|b"}, Rows: [][]Cell{
		{{Text: "p99"}, {Text: "1 *ms*", Soft: "(0..*)", Best: true}},
		{{Text: "<b>_&_`[x]\\\x1b"}, {Text: "2"}},
	}}
	var b strings.Builder
	g.Markdown(&b)
	want := "|  | a\\|b |\n|---|--:|\n| p99 | **1 \\*ms\\*** (0..\\*) |\n| &lt;b>\\_&amp;\\_\\`\\[x]\\\\\uFFFD | 2 |\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
