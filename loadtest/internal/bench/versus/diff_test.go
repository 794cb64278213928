package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDiffShowsRatioAndProcessorTimeOfBoth(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, workloads ...workloadResult) string {
		path := filepath.Join(dir, name)
		f, err := os.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := writeJSON(f, results{Pairings: []pairingResult{{Title: "x", Workloads: workloads}}}); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cpu := func(v float64) []sample { return []sample{{CPU: &v}} }
	before := write("a.json",
		workloadResult{Name: "SET 64B P16 everysec", Ringside: cpu(4), Ratio: &spread{Median: 0.8}},
		workloadResult{Name: "GET 64B P16 everysec", Ringside: cpu(2)})
	after := write("b.json",
		workloadResult{Name: "SET 64B P16 everysec", Ringside: cpu(2), Ratio: &spread{Median: 1.2}},
		workloadResult{Name: "LRANGE_100 64B P16 everysec", Ringside: cpu(7)})
	var out strings.Builder
	if err := diffReports(&out, []string{before, after}); err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(out.String()) {
		if n := utf8.RuneCountInString(line); n > tableWidth {
			t.Errorf("a line has %d columns", n)
		}
		rows = append(rows, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"SET 64B P16 everysec 0.80 1.20 +50% 4.00 2.00 -50%",
		"GET 64B P16 everysec - - 2.00 -",
		"LRANGE_100 64B P16 everysec - - - 7.00",
	}
	if got := strings.Join(rows[2:], "\n"); got != strings.Join(want, "\n") {
		t.Errorf("the table is\n%s\nwant\n%s", got, strings.Join(want, "\n"))
	}
}

func TestDiffRefusesWhatIsNoReport(t *testing.T) {
	dir := t.TempDir()
	empty := filepath.Join(dir, "empty.json")
	if err := os.WriteFile(empty, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, paths := range [][]string{nil, {empty}, {empty, empty}, {filepath.Join(dir, "none"), empty}} {
		if err := diffReports(&strings.Builder{}, paths); err == nil {
			t.Errorf("%v were compared", paths)
		}
	}
}

// testdata/earlier.json was written before pairings and comparisons of proxies had one result type.
func TestDiffReadsEarlierReports(t *testing.T) {
	const file = "testdata/earlier.json"
	var out strings.Builder
	if err := diffReports(&out, []string{file, file}); err != nil {
		t.Fatal(err)
	}
	const want = `                                   ratio                 CPU µs
                                  before  after          before   after
SET 64B P16 everysec                1.33   1.33    +0%     4.00    4.00    +0%
LPOP 3B P16 everysec                2.29   2.29    +0%     5.00    5.00    +0%
`
	if got := out.String(); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
}
