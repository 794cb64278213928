package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// BenchmarkTable writes a benchmark for a terminal: a table for each distribution of keys, with a
// line for each contender and number of nodes.
func BenchmarkTable(w io.Writer, r *sim.BenchmarkReport, options TableOptions) error {
	t := terminal{cells: newTerminal(options).cells}
	distribution := ""
	for i, l := range r.Balance {
		if l.Distribution == distribution || distributionSeen(r.Balance[:i], l.Distribution) {
			continue
		}
		distribution = l.Distribution
		t.line(4, "%s keys, %s, in each of %s", distribution, Count(int64(l.Keys)), Plural(l.Iterations, "iteration"))
		t.out.WriteString(benchmarkTable(r, distribution) + "\n")
	}
	if len(r.Balance) > 0 {
		t.line(6, "max and p99: keys of a node, as a multiple of the mean. strays: keys that moved between nodes that stayed, for each key that had to move, at the fraction of removed nodes where it is most. resize: a node joins and leaves.")
	}
	for _, s := range r.Skipped {
		t.line(4, "%s with %s was left out: %v", Printable(s.Algorithm), Plural(s.Nodes, "node"), s.Err)
	}
	_, err := io.WriteString(w, t.out.String())
	return err
}

func distributionSeen(figures []sim.LoadFigures, distribution string) bool {
	for _, l := range figures {
		if l.Distribution == distribution {
			return true
		}
	}
	return false
}

func benchmarkTable(r *sim.BenchmarkReport, distribution string) string {
	w := newWriter()
	head := table.Row{"", "nodes", "max", "p99", "strays", "lookup", "init", "resize", "memory"}
	w.AppendHeader(head)
	last := ""
	for _, l := range r.Balance {
		if l.Distribution != distribution {
			continue
		}
		if last != "" && last != l.Algorithm {
			w.AppendSeparator()
		}
		last = l.Algorithm
		row := table.Row{
			Clip(Printable(l.Algorithm), 14), Count(int64(l.Nodes)),
			fmt.Sprintf("%.3f", l.Relative(l.Max)), fmt.Sprintf("%.3f", l.Relative(l.P99)), strays(r, l),
		}
		for _, times := range [][]sim.TimeFigures{r.Lookup, r.Init, r.Resize} {
			row = append(row, timeOf(times, l))
		}
		for _, m := range r.Memory {
			if m.Subject == l.Subject {
				row = append(row, strings.ReplaceAll(Size(int64(m.Bytes)), "iB", ""))
			}
		}
		w.AppendRow(row)
	}
	return rendered(w, len(head))
}

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
		return "–"
	}
	return Percent(most) + " %"
}

func timeOf(times []sim.TimeFigures, l sim.LoadFigures) string {
	for _, t := range times {
		if t.Subject == l.Subject && (t.Distribution == "" || t.Distribution == l.Distribution) {
			return Nanos(t.Median)
		}
	}
	return "–"
}
