package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
	t := Grid{Head: []string{"", "nodes", "max", "p99", "strays", "lookup", "init", "resize", "memory"}}
	var ruled []int // above each algorithm but the first
	last := ""
	for _, l := range r.Balance {
		if l.Distribution != distribution {
			continue
		}
		if last != "" && last != l.Algorithm {
			ruled = append(ruled, len(t.Rows))
		}
		last = l.Algorithm
		memory := ""
		for _, m := range r.Memory {
			if m.Subject == l.Subject {
				memory = strings.ReplaceAll(Size(m.Bytes), "iB", "")
			}
		}
		t.Rows = append(t.Rows, textRow(
			Clip(Printable(l.Algorithm), 14), Count(l.Nodes),
			fmt.Sprintf("%.3f", l.Relative(l.Max)), fmt.Sprintf("%.3f", l.Relative(l.P99)), strays(r, l),
			timeOf(r.Lookup, l), timeOf(r.Init, l), timeOf(r.Resize, l), memory))
	}
	return lay(t.columns(Cell.both), ruled...)
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

// BenchmarkCSV writes the files of a benchmark to a directory. Files and first columns are named as
// in the results of java-consistent-hashing-algorithms (SUPSI), so that both can be laid side by
// side. What is called % there is a multiple: of the mean load, or of all moved keys, nodes or keys.
func BenchmarkCSV(dir string, r *sim.BenchmarkReport) error {
	return errors.Join(
		csvFile(dir, "Balance.csv", loadColumns, r.Balance, loadRow),
		csvFile(dir, "ResizeBalance.csv", loadColumns, r.ResizeBalance, loadRow),
		csvFile(dir, "Monotonicity.csv", moveColumns, r.Monotonicity, moveRow),
		csvFile(dir, "MemoryUsage.csv", []string{"HashFunction", "Algorithm", "Nodes", "Bytes"}, r.Memory,
			func(m sim.MemoryFigures) []any { return []any{m.Hash, m.Algorithm, m.Nodes, m.Bytes} }),
		csvFile(dir, "LookupTime.csv", slices.Concat([]string{"HashFunction", "Algorithm", "Distribution", "Nodes"}, timeColumns), r.Lookup,
			func(t sim.TimeFigures) []any {
				return append([]any{t.Hash, t.Algorithm, t.Distribution, t.Nodes}, timeRow(t)...)
			}),
		resizeFile(dir, "InitTime.csv", r.Init),
		resizeFile(dir, "ResizeTime.csv", r.Resize),
	)
}

func resizeFile(dir, name string, times []sim.TimeFigures) error {
	return csvFile(dir, name, slices.Concat([]string{"HashFunction", "Algorithm", "Nodes"}, timeColumns), times,
		func(t sim.TimeFigures) []any { return append([]any{t.Hash, t.Algorithm, t.Nodes}, timeRow(t)...) })
}

func csvFile[T any](dir, name string, columns []string, figures []T, row func(T) []any) error {
	f, err := os.Create(filepath.Join(dir, name))
	if err != nil {
		return err
	}
	out := csv.NewWriter(f)
	_ = out.Write(columns)
	for _, figure := range figures {
		var texts []string
		for _, v := range row(figure) {
			if number, ok := v.(float64); ok {
				texts = append(texts, strconv.FormatFloat(number, 'f', -1, 64))
			} else {
				texts = append(texts, fmt.Sprint(v))
			}
		}
		_ = out.Write(texts)
	}
	return errors.Join(flushed(out), f.Close())
}

var loadColumns = []string{
	"HashFunction", "Algorithm", "Keys", "Distribution", "Nodes", "Iterations", "Min", "Max", "Expected", "Min%", "Max%", "Var",
	"P99", "P99%",
}

func loadRow(l sim.LoadFigures) []any {
	return []any{
		l.Hash, l.Algorithm, l.Keys, l.Distribution, l.Nodes, l.Iterations, l.Min, l.Max, l.Expected(),
		l.Relative(l.Min), l.Relative(l.Max), l.Variance, l.P99, l.Relative(l.P99),
	}
}

var moveColumns = []string{
	"HashFunction", "Algorithm", "Fraction", "Keys", "Distribution", "Nodes", "KeysInRemovedNodes",
	"KeysMovedFromRemovedNodes", "KeysMovedFromOtherNodes", "NodesLosingKeys",
	"KeysMovedToRestoredNodes", "KeysMovedToOtherNodes", "NodesGainingKeys",
	"KeysRelocatedAfterResize", "NodesChangedAfterResize",
	"KeysMovedFromRemovedNodes%", "KeysMovedFromOtherNodes%", "NodesLosingKeys%",
	"KeysMovedToRestoredNodes%", "KeysMovedToOtherNodes%", "NodesGainingKeys%",
	"KeysRelocatedAfterResize%", "NodesChangedAfterResize%",
	"Order",
}

func moveRow(m sim.MoveFigures) []any {
	from, to := m.FromRemoved+m.FromOthers, m.ToRestored+m.ToOthers
	return []any{
		m.Hash, m.Algorithm, m.Fraction, m.Keys, m.Distribution, m.Nodes, m.InRemoved,
		m.FromRemoved, m.FromOthers, m.Losing,
		m.ToRestored, m.ToOthers, m.Gaining,
		m.Relocated, m.Changed,
		part(m.FromRemoved, from), part(m.FromOthers, from), part(m.Losing, m.Nodes),
		part(m.ToRestored, to), part(m.ToOthers, to), part(m.Gaining, m.Nodes),
		part(m.Relocated, m.Keys), part(m.Changed, m.Nodes),
		m.Order,
	}
}

// part is a part of all, 0 of nothing.
func part(n, of int) float64 { return float64(n) / float64(max(of, 1)) }

// Times are medians over the iterations after a first one, in nanoseconds.
var timeColumns = []string{"Iterations", "MedianNanos", "MinNanos", "MaxNanos"}

func timeRow(t sim.TimeFigures) []any { return []any{t.Iterations, t.Median, t.Min, t.Max} }
