package report

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

func fakeBenchmark() *sim.BenchmarkReport {
	s := sim.Subject{Hash: "md5", Algorithm: "ketama", Nodes: 10}
	times := []sim.TimeFigures{{Subject: s, Iterations: 3, Median: 1500, Min: 1000, Max: 2000}}
	return &sim.BenchmarkReport{
		Balance: []sim.LoadFigures{{Subject: s, Distribution: "zipf", Keys: 1000, Iterations: 3, Min: 80, Max: 125.5, P99: 120, Variance: 42.25}},
		Monotonicity: []sim.MoveFigures{{
			Subject: s, Distribution: "zipf", Order: "lifo", Fraction: 0.3, Keys: 900, InRemoved: 300,
			FromRemoved: 300, FromOthers: 100, Losing: 5, ToRestored: 290, ToOthers: 10, Gaining: 4, Relocated: 45, Changed: 2,
		}},
		Memory: []sim.MemoryFigures{{Subject: s, Bytes: 4096}},
		Lookup: []sim.TimeFigures{{Subject: s, Distribution: "zipf", Iterations: 3, Median: 150, Min: 100, Max: 200}},
		Init:   times, Resize: times,
		Skipped: []sim.Skipped{{Subject: s, Err: errors.New("too many points")}},
	}
}

func TestBenchmarkFilesHaveThePublishedColumns(t *testing.T) {
	dir := t.TempDir()
	if err := BenchmarkCSV(dir, fakeBenchmark()); err != nil {
		t.Fatal(err)
	}
	const load = "HashFunction,Algorithm,Keys,Distribution,Nodes,Iterations,Min,Max,Expected,Min%,Max%,Var"
	for name, want := range map[string][]string{
		"Balance.csv":       {load + ",P99,P99%", "md5,ketama,1000,zipf,10,3,80,125.5,100,0.8,1.255,42.25,120,1.2"},
		"ResizeBalance.csv": {load + ",P99,P99%"},
		"Monotonicity.csv": {
			"HashFunction,Algorithm,Fraction,Keys,Distribution,Nodes,KeysInRemovedNodes,KeysMovedFromRemovedNodes,KeysMovedFromOtherNodes,NodesLosingKeys," +
				"KeysMovedToRestoredNodes,KeysMovedToOtherNodes,NodesGainingKeys,KeysRelocatedAfterResize,NodesChangedAfterResize," +
				"KeysMovedFromRemovedNodes%,KeysMovedFromOtherNodes%,NodesLosingKeys%,KeysMovedToRestoredNodes%,KeysMovedToOtherNodes%,NodesGainingKeys%," +
				"KeysRelocatedAfterResize%,NodesChangedAfterResize%,Order",
			"md5,ketama,0.3,900,zipf,10,300,300,100,5,290,10,4,45,2,0.75,0.25,0.5,0.9666666666666667,0.03333333333333333,0.4,0.05,0.2,lifo",
		},
		"MemoryUsage.csv": {"HashFunction,Algorithm,Nodes,Bytes", "md5,ketama,10,4096"},
		"LookupTime.csv":  {"HashFunction,Algorithm,Distribution,Nodes,Iterations,MedianNanos,MinNanos,MaxNanos", "md5,ketama,zipf,10,3,150,100,200"},
		"InitTime.csv":    {"HashFunction,Algorithm,Nodes,Iterations,MedianNanos,MinNanos,MaxNanos", "md5,ketama,10,3,1500,1000,2000"},
		"ResizeTime.csv":  {"HashFunction,Algorithm,Nodes,Iterations,MedianNanos,MinNanos,MaxNanos", "md5,ketama,10,3,1500,1000,2000"},
	} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Split(strings.TrimSpace(string(text)), "\n"); !slices.Equal(got, want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, text, strings.Join(want, "\n"))
		}
		if _, err := csv.NewReader(strings.NewReader(string(text))).ReadAll(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBenchmarkTableFitsATerminal(t *testing.T) {
	var b strings.Builder
	if err := BenchmarkTable(&b, fakeBenchmark(), TableOptions{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if Width(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("wider than 80: %s", line)
		}
	}
	for _, want := range []string{"zipf keys, 1,000, in each of 3 iterations", "1.255 1.200 33.3 %", "150 ns", "1.50 µs", "4.00 K", "ketama with 10 nodes was left out: too many points"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
}
