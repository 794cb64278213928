package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// BenchmarkTable writes a benchmark for a terminal: a table for each distribution of keys, with a
// line for each contender and number of nodes.
func BenchmarkTable(w io.Writer, r *sim.BenchmarkReport, options TableOptions) error {
	t := newTerminal(options)
	seen := map[string]bool{}
	for _, l := range r.Balance {
		if !seen[l.Distribution] {
			seen[l.Distribution] = true
			t.line(4, "%s keys, %s, in each of %s", l.Distribution, Count(l.Keys), Plural(l.Iterations, "iteration"))
			t.out.WriteString(benchmarkTable(r, l.Distribution) + "\n")
		}
	}
	if len(r.Balance) > 0 {
		t.line(6, "max and p99: keys of a node, as a multiple of the mean. strays: keys that moved between nodes that stayed, for each key that had to move, at the fraction of removed nodes where it is most. resize: a node joins and leaves.")
	}
	for _, s := range r.Skipped {
		t.line(4, "%s with %s was left out: %v", Printable(s.Algorithm), Plural(s.Nodes, "node"), s.Err)
	}
	return t.write(w)
}

func benchmarkTable(r *sim.BenchmarkReport, distribution string) string {
	columns := make([]column, len(benchmarkHeads))
	for i, head := range benchmarkHeads {
		columns[i] = column{head: head, left: i == 0, after: 1}
	}
	var ruled []int // above each algorithm but the first
	last := ""
	for _, l := range r.Balance {
		if l.Distribution != distribution {
			continue
		}
		if last != "" && last != l.Algorithm {
			ruled = append(ruled, len(columns[0].cells))
		}
		last = l.Algorithm
		memory := ""
		for _, m := range r.Memory {
			if m.Subject == l.Subject {
				memory = strings.ReplaceAll(Size(m.Bytes), "iB", "")
			}
		}
		for i, text := range []string{
			Clip(Printable(l.Algorithm), 14), Count(l.Nodes),
			fmt.Sprintf("%.3f", l.Relative(l.Max)), fmt.Sprintf("%.3f", l.Relative(l.P99)), strays(r, l),
			timeOf(r.Lookup, l), timeOf(r.Init, l), timeOf(r.Resize, l), memory,
		} {
			columns[i].cells = append(columns[i].cells, text)
		}
	}
	return lay(columns, ruled...)
}

var benchmarkHeads = []string{"", "nodes", "max", "p99", "strays", "lookup", "init", "resize", "memory"}

// strays are the keys that moved between survivors, as a share of those that had to move: the most of
// all fractions.
func strays(r *sim.BenchmarkReport, l sim.LoadFigures) string {
	most, known := 0.0, false
	for _, m := range r.Monotonicity {
		if m.Subject == l.Subject && m.Distribution == l.Distribution {
			most, known = max(most, part(m.FromOthers, m.InRemoved)), true
		}
	}
	if !known {
		return None
	}
	return Percent(most) + " %"
}

func timeOf(times []sim.TimeFigures, l sim.LoadFigures) string {
	for _, t := range times {
		if t.Subject == l.Subject && (t.Distribution == "" || t.Distribution == l.Distribution) {
			return Nanos(t.Median)
		}
	}
	return None
}
