package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

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
		csvFile(dir, "LookupTime.csv", append([]string{"HashFunction", "Algorithm", "Distribution", "Nodes"}, timeColumns...), r.Lookup,
			func(t sim.TimeFigures) []any {
				return append([]any{t.Hash, t.Algorithm, t.Distribution, t.Nodes}, timeRow(t)...)
			}),
		csvFile(dir, "InitTime.csv", append([]string{"HashFunction", "Algorithm", "Nodes"}, timeColumns...), r.Init, resizeRow),
		csvFile(dir, "ResizeTime.csv", append([]string{"HashFunction", "Algorithm", "Nodes"}, timeColumns...), r.Resize, resizeRow),
	)
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

func resizeRow(t sim.TimeFigures) []any {
	return append([]any{t.Hash, t.Algorithm, t.Nodes}, timeRow(t)...)
}
