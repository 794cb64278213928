package report

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// recorded is the report of a real run, which docs/loadtest.md shows.
func recorded(t *testing.T) *result.Report {
	t.Helper()
	f, err := os.Open(filepath.Join("example", "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := Read(f)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is kept of the run is what today's code makes of its figures.
func TestExampleReportIsUpToDate(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	r := recorded(t)
	for file, write := range map[string]func(io.Writer, *result.Report) error{
		"report.html":    func(w io.Writer, r *result.Report) error { return HTML(w, r, PageOptions{}) },
		"strategies.svg": Picture,
		"report.json":    JSON,
		"report.txt":     func(w io.Writer, r *result.Report) error { return Table(w, r, TableOptions{Width: 80}) },
	} {
		var b bytes.Buffer
		if err := write(&b, r); err != nil {
			t.Fatal(err)
		}
		if file == "report.html" {
			checkAlone(t, b.String())
		}
		golden(t, filepath.Join("example", file), b.String())
	}
}

// docs/loadtest.md shows the run's picture and tables and says how it was made.
func TestDocsShowTheExample(t *testing.T) {
	document, err := os.ReadFile(filepath.Join("..", "..", "docs", "loadtest.md"))
	if err != nil {
		t.Fatal(err)
	}
	r := recorded(t)
	var tables strings.Builder
	if err := Markdown(&tables, r); err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(tables.String(), "\n\n") {
		if strings.HasPrefix(part, "|") && !strings.Contains(string(document), part) {
			t.Errorf("docs/loadtest.md does not have this table:\n%s", part)
		}
	}
	for _, want := range []string{"](../loadtest/report/example/strategies.svg)", "](../loadtest/report/example/report.html)", "`" + r.Command + "`", r.Machine.CPU} {
		if !strings.Contains(string(document), want) {
			t.Errorf("docs/loadtest.md does not have %s", want)
		}
	}
}

// The figures of a real run agree with each other: those of the whole with those of its
// windows, phases and events, and percentiles with each other.
func TestRecordedFiguresAgree(t *testing.T) {
	r := recorded(t)
	for _, c := range r.Contestants {
		for _, run := range c.Runs {
			var done, failed, phases int64
			for i, w := range run.Windows {
				done, failed = done+w.Operations, failed+w.Failed
				if w.P50 > w.P99 || w.P99 > w.P999 || i > 0 && w.AtMS <= run.Windows[i-1].AtMS {
					t.Errorf("%s, round %d: %+v", c.Name, run.Round, w)
				}
			}
			for _, p := range run.Phases {
				phases += p.Operations
			}
			all := run.All
			if done != all.Operations || failed != all.Failed || phases != all.Operations {
				t.Errorf("%s, round %d: %d operations, %d failed; windows have %d and %d, phases %d", c.Name, run.Round, all.Operations, all.Failed, done, failed, phases)
			}
			if l := all.Latency; l.P50 > l.P99 || l.P99 > l.P999 || l.P999 > l.Max || l.Mean < l.P50/2 {
				t.Errorf("%s, round %d: %+v", c.Name, run.Round, l)
			}
			for _, w := range run.Windows { // what is before the first event
				if w.AtMS+r.WindowMS <= run.Events[0].AtMS {
					failed -= w.Failed
				}
			}
			for _, e := range run.Events {
				failed -= e.Failed
			}
			if failed != 0 {
				t.Errorf("%s, round %d: %d failures belong to no event, or to two", c.Name, run.Round, failed)
			}
			for _, e := range run.Events {
				if e.Factor != nil && math.Abs(*e.Factor*float64(e.LeastKeys)-float64(e.MovedKeys)) > 1 {
					t.Errorf("%s, round %d, %s: %d moved are not %.3f times %d", c.Name, run.Round, e.Name, e.MovedKeys, *e.Factor, e.LeastKeys)
				}
			}
		}
	}
}
