package main

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/ringside-kv/ringside/loadtest/report"
)

// tableWidth is the number of columns that tables and texts fit, except the table of --forward.
const tableWidth = 80

//go:embed texts.tmpl
var textsTemplate string

var texts = template.Must(template.New("").Funcs(template.FuncMap{"size": size, "fixed": fixed}).Parse(textsTemplate))

// printText writes one of the texts, whose lines it breaks between words.
func printText(w io.Writer, name string, data any) {
	var b strings.Builder
	if err := texts.ExecuteTemplate(&b, name, data); err != nil {
		panic(err)
	}
	for line := range strings.Lines(b.String()) {
		label, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "|")
		for _, part := range report.Wrap(text, tableWidth-len(label), 100) {
			fmt.Fprintln(w, label+part)
			label = strings.Repeat(" ", len(label))
		}
	}
}

// A table has columns of a fixed width, so that a row can be written as soon as it is known.
type table struct {
	format string
	head   []any
	target string // format of the target of a ratio
	cpu    func(*sample) []*float64
	foot   string // one of the texts
}

var (
	pairingTable = table{
		format: "%-9s%-8s%8s%6s%11s%7s%7s%6s  %-16s",
		head:   []any{"", "", "k ops/s", "ratio", "min–max", "p50 ms", "p99 ms", "CPU", "target"},
		target: "≥ %.2f %s",
		cpu:    func(s *sample) []*float64 { return []*float64{s.CPU} },
		foot:   "pairing foot",
	}
	forwardTable = table{
		format: "%-8s%-12s%8s%7s%12s%7s%7s%6s%6s %s",
		head:   []any{"", "", "k ops/s", "ratio", "min–max", "p50 ms", "p99 ms", "front", "all", "target"},
		target: "≥ %.1f %s",
		cpu:    func(s *sample) []*float64 { return []*float64{s.FrontCPU, s.AllCPU} },
		foot:   "forward foot",
	}
	largeTable = table{
		format: "%-22s%12s%9s%12s%9s%8s",
		head:   []any{"", "p50 ms, few", "p99", "p50, many", "p99", "ratio"},
		foot:   "large foot",
	}
)

func tableOf(mode string) *table {
	if mode == forwardMode {
		return &forwardTable
	}
	return &pairingTable
}

func (t *table) row(w io.Writer, cells ...any) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf(t.format, cells...), " "))
}

// printRows writes a line for each side of a workload.
func (t *table) printRows(w io.Writer, r *workloadResult) {
	labels := rows.Commands[r.Command].Label
	if labels[0] == "" {
		labels[0] = fmt.Sprintf("%s P%d", r.Command, r.Pipeline)
	}
	sides := r.sides()
	for i, s := range sides {
		label, ratio, span := "", "", ""
		if i < len(labels) {
			label = labels[i]
		}
		if s.Ratio != nil {
			ratio = fixed(s.Ratio.Median, 2)
			span = fixed(s.Ratio.Min, 2) + "–" + fixed(s.Ratio.Max, 2)
		} else if s.Name == asRingside {
			ratio = "-"
		}
		m := summary(s.Samples)
		cells := []any{label, s.Name, fixed(m.OpsPerSec/1000, 1), ratio, span, fixed(m.P50, 2), fixed(m.P99, 2)}
		for _, cpu := range t.cpu(&m) {
			cells = append(cells, cpuCell(cpu))
		}
		t.row(w, append(cells, t.targetCell(r, &s))...)
	}
	if len(sides) == 1 && labels[1] != "" {
		fmt.Fprintln(w, labels[1])
	}
}

func (t *table) targetCell(r *workloadResult, s *sideResult) string {
	switch {
	case s.Name == asRedis && r.Ratio != nil && r.MaxP99 > 0:
		return fmt.Sprintf("p99 ≤ %.0f× %s", r.MaxP99, verdict(r.P99 <= r.MaxP99))
	case (s.Name == asRingside || s.Name == asProxy) && s.Ratio != nil && r.MinRatio > 0:
		return fmt.Sprintf(t.target, r.MinRatio, verdict(s.Ratio.Median >= r.MinRatio))
	}
	return ""
}

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "missed"
}

// fixed writes a number with up to so many decimals that it has about four digits.
func fixed(v float64, decimals int) string {
	for limit := 100.0; decimals > 0 && v >= limit; limit *= 10 {
		decimals--
	}
	return fmt.Sprintf("%.*f", decimals, v)
}

func cpuCell(cpu *float64) string {
	if cpu == nil {
		return "-"
	}
	return fixed(*cpu, 2)
}

func size(n int64) string {
	switch {
	case n == 0:
		return "unknown"
	case n >= 10<<30:
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}
