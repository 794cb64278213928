package report

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

func tableText(t *testing.T, r *result.Report, o TableOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Table(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTablesLookAsTheyDid(t *testing.T) {
	reports := odd()
	for _, name := range []string{"usual", "failed runs", "servers", "mixed", "interrupted", "nobody"} {
		golden(t, "testdata/"+strings.ReplaceAll(name, " ", "-")+".txt", tableText(t, reports[name], TableOptions{}))
	}
}

func TestTablesFitTheirTerminal(t *testing.T) {
	for name, r := range odd() {
		for _, width := range []int{0, 80, 120, 200} {
			text := tableText(t, r, TableOptions{Width: width})
			for line := range strings.Lines(text) {
				if n := Width(strings.TrimSuffix(line, "\n")); n > max(width, 80) {
					t.Errorf("%s: %d cells of %d: %s", name, n, width, line)
				}
			}
			if strings.ContainsRune(text, 0x1b) || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
				t.Errorf("%s: an escape character, or no number, in\n%s", name, text)
			}
		}
	}
}

func TestWideTablesHaveAllSideBySide(t *testing.T) {
	r := odd()["mixed"]
	for width, want := range map[int]int{80: 2, 160: 1} {
		if n := strings.Count(tableText(t, r, TableOptions{Width: width}), "\nthroughput  "); n != want {
			t.Errorf("%d tables of whole runs in %d cells, want %d", n, width, want)
		}
	}
}

func TestColoursAddNothingElse(t *testing.T) {
	for name, r := range odd() {
		colored := tableText(t, r, TableOptions{Color: true})
		if name == "usual" && !strings.Contains(colored, "18.0k\x1b[0m*") {
			t.Errorf("the best has no colour in\n%s", colored)
		}
		bare := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(colored, "")
		if plain := tableText(t, r, TableOptions{}); bare != plain {
			t.Errorf("%s: without its colours it is\n%swant\n%s", name, bare, plain)
		}
	}
}
