package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/report"
)

// tableWidth is the number of columns that tables and texts fit, except the table of --forward.
const tableWidth = 80

// A table has columns of a fixed width, so that a row can be written as soon as it is known.
type table struct {
	format string
	head   []any
	target string // format of the target of a ratio
	cpu    func(*sample) []*float64
	foot   string
}

var (
	pairingTable = table{
		format: "%-9s%-8s%8s%6s%11s%7s%7s%6s  %-16s",
		head:   []any{"", "", "k ops/s", "ratio", "min–max", "p50 ms", "p99 ms", "CPU", "target"},
		target: "≥ %.2f %s",
		cpu:    func(s *sample) []*float64 { return []*float64{s.CPU} },
		foot: "CPU is seconds of the server per million commands, background work included. " +
			"MSET counts commands, of 10 keys each. The ratio is that of ops/s, Ringside's over Redis'; min–max are its rounds.",
	}
	forwardTable = table{
		format: "%-8s%-12s%8s%7s%12s%7s%7s%6s%6s %s",
		head:   []any{"", "", "k ops/s", "ratio", "min–max", "p50 ms", "p99 ms", "front", "all", "target"},
		target: "≥ %.1f %s",
		cpu:    func(s *sample) []*float64 { return []*float64{s.FrontCPU, s.AllCPU} },
		foot: "nutcracker: nutcracker before redis-servers without persistence. " +
			"proxy: a Ringside proxy before stand-ins that keep everything in memory. " +
			"cluster: a Ringside proxy before Ringside nodes (fsync everysec). " +
			"The ratio is that of ops/s in each round, over nutcracker's. front and all are the CPU of the process " +
			"that clients talk to and of all, in seconds per million commands, background work included.",
	}
	coresTable = table{
		format: pairingTable.format,
		head:   []any{"", "", "k ops/s", "ratio", "min–max", "p50 ms", "p99 ms", "CPU", ""},
		cpu:    pairingTable.cpu,
		foot: "CPU is seconds of the server per million commands, background work included. The load takes cores of " +
			"the same machine. The ratio is that of ops/s, over one core's; min–max are its rounds.",
	}
	largeTable = table{
		format: "%-22s%12s%9s%12s%9s%8s",
		head:   []any{"", "p50 ms, few", "p99", "p50, many", "p99", "ratio"},
	}
)

func tableOf(mode string) *table {
	switch mode {
	case forwardMode:
		return &forwardTable
	case coresMode:
		return &coresTable
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

// printHead tells where and how a run measures.
func printHead(w io.Writer, rep *results) {
	m := &rep.Machine
	versions := m.Go + ", Redis " + m.Redis
	if m.Redis == "" {
		versions = m.Go + "; no redis-server on PATH: Ringside is measured alone"
	}
	wrap(w, "machine  ", "%s, %d cores, %s of memory", m.CPU, m.Cores, size(m.Memory))
	wrap(w, "system   ", "%s, data on %s", m.Kernel, cmp.Or(m.FileSystem, "unknown"))
	wrap(w, "versions ", "%s", versions)
	wrap(w, "load     ", "%s, %d clients, %d random keys, median of %s",
		rep.Load, rep.Clients, rep.Keys, report.Plural(rep.Rounds, "round"))
}

// printFoot explains a table.
func (t *table) printFoot(w io.Writer, quick bool) {
	fmt.Fprintln(w)
	wrap(w, "", "%s", t.foot)
	if quick {
		wrap(w, "", "--quick is too short to judge by.")
	}
}

func (m *memory) print(w io.Writer) {
	redis := ""
	if m.Redis > 0 {
		redis = fmt.Sprintf(" Redis %s.", size(m.Redis))
	}
	wrap(w, "memory   ", "Ringside %s resident, %s at most; to stay within %s and up to %s of requests and replies in flight: %s.%s",
		size(m.Ringside), size(m.RingsidePeak), size(m.Bound), size(m.InFlight), verdict(m.RingsidePeak <= m.Bound+m.InFlight), redis)
}

// wrap writes text behind a label and breaks lines between words.
func wrap(w io.Writer, label, format string, args ...any) {
	for _, line := range report.Wrap(fmt.Sprintf(format, args...), tableWidth-len(label), 100) {
		fmt.Fprintln(w, label+line)
		label = strings.Repeat(" ", len(label))
	}
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
