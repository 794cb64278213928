package main

import (
	"fmt"
	"io"
	"strings"
)

// The table fits a terminal of 80 columns: two lines for each workload, with
// columns of a fixed width, so that a row can be written as soon as it is known.
const tableWidth = 80

const rowFormat = "%-9s%-8s%8s%6s%11s%7s%7s%6s  %-16s"

func row(w io.Writer, cells ...any) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf(rowFormat, cells...), " "))
}

func printHead(w io.Writer, rep report) {
	m := rep.Machine
	line := func(name, format string, args ...any) {
		wrap(w, fmt.Sprintf("%-9s", name), fmt.Sprintf(format, args...))
	}
	line("machine", "%s, %d cores, %s of memory", m.CPU, m.Cores, sizeOrUnknown(m.Memory))
	line("system", "%s, data on %s", m.Kernel, orUnknown(m.FileSystem))
	if m.Redis == "" {
		line("versions", "%s; no redis-server on PATH: Ringside is measured alone", m.Go)
	} else {
		line("versions", "%s, Redis %s", m.Go, m.Redis)
	}
	line("load", "%s, %d clients, %d random keys, median of %s", rep.Load, rep.Clients, rep.Keys, rounds(rep.Rounds))
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}

func printPairingHead(w io.Writer, p pairing) {
	fmt.Fprintf(w, "\n%s\n", p.title)
	row(w, "", "", "k ops/s", "ratio", "min–max", "p50 ms", "p99 ms", "CPU", "target")
}

func printRow(w io.Writer, r workloadResult) {
	name, below := rowLabels(r)
	ratio, span, target, target99 := "-", "", "", ""
	if r.Ratio != nil {
		ratio = fixed(r.Ratio.Median, 2)
		span = fixed(r.Ratio.Min, 2) + "–" + fixed(r.Ratio.Max, 2)
		if r.MinRatio > 0 {
			target = fmt.Sprintf("≥ %.2f %s", r.MinRatio, verdict(r.Ratio.Median >= r.MinRatio))
		}
		if r.MaxP99 > 0 {
			target99 = fmt.Sprintf("p99 ≤ %.0f× %s", r.MaxP99, verdict(r.P99 <= r.MaxP99))
		}
	}
	s := summary(r.Ringside)
	row(w, name, "Ringside", fixed(s.OpsPerSec/1000, 1), ratio, span, fixed(s.P50, 2), fixed(s.P99, 2), cpuCell(s.CPU), target)
	if len(r.Redis) > 0 {
		s := summary(r.Redis)
		row(w, below, "Redis", fixed(s.OpsPerSec/1000, 1), "", "", fixed(s.P50, 2), fixed(s.P99, 2), cpuCell(s.CPU), target99)
	} else if below != "" {
		row(w, below, "", "", "", "", "", "", "", "")
	}
}

// rowLabels are what both lines of a workload begin with.
func rowLabels(r workloadResult) (first, second string) {
	switch recipe := recipeFor(r.Command); {
	case recipe == nil:
		return fmt.Sprintf("%s P%d", r.Command, r.Pipeline), ""
	case recipe.label[0] == "":
		return r.Command, ""
	default:
		return recipe.label[0], recipe.label[1]
	}
}

func verdict(reached bool) string {
	if reached {
		return "reached"
	}
	return "missed"
}

// fixed writes a number with up to so many decimals that it has about four
// digits.
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

func printMemory(w io.Writer, m *memory) {
	if m == nil {
		return
	}
	text := fmt.Sprintf("Ringside %s resident, %s at most; to stay within %s and up to %s of requests and replies in flight: %s.",
		sizeOrUnknown(m.Ringside), sizeOrUnknown(m.RingsidePeak), sizeOrUnknown(m.Bound), sizeOrUnknown(m.InFlight),
		verdict(m.RingsidePeak <= m.Bound+m.InFlight))
	if m.Redis > 0 {
		text += fmt.Sprintf(" Redis %s.", sizeOrUnknown(m.Redis))
	}
	wrap(w, "memory   ", text)
}

func printFoot(w io.Writer, rep report) {
	fmt.Fprintln(w)
	wrap(w, "", fmt.Sprintf("CPU is seconds of the server per million commands, background work included. "+
		"MSET counts commands, of %d keys each. The ratio is that of ops/s, Ringside's over Redis'; min–max are its rounds.", msetKeys))
	if rep.Quick {
		wrap(w, "", "--quick is too short to judge by.")
	}
}

// wrap writes text behind a label and breaks lines between words.
func wrap(w io.Writer, label, text string) {
	line, used := label, runes(label)
	begin := used
	for word := range strings.FieldsSeq(text) {
		if used > begin && used+1+runes(word) > tableWidth {
			fmt.Fprintln(w, line)
			line, used = strings.Repeat(" ", begin), begin
		}
		if used > begin {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+runes(word)
	}
	fmt.Fprintln(w, line)
}

func runes(s string) int { return len([]rune(s)) }

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func sizeOrUnknown(n int64) string {
	switch {
	case n == 0:
		return "unknown"
	case n >= 10<<30:
		return fmt.Sprintf("%.0f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.0f MiB", float64(n)/(1<<20))
}
