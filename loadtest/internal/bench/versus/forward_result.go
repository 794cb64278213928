package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/loadtest/cluster"
)

// A forwardSample is one measurement of one contender.
type forwardSample struct {
	figures
	// FrontCPU is of the process that clients talk to, AllCPU of all, in seconds per
	// million commands; 0 where it is not known.
	FrontCPU float64 `json:"front_cpu_s_per_mop"`
	AllCPU   float64 `json:"all_cpu_s_per_mop"`
}

type forwardSamples struct {
	Name    string          `json:"name"`
	Samples []forwardSample `json:"samples"` // one for each round
	// Ratio is that of ops/s in each round, over the first contender's; nil for itself.
	Ratio *spread `json:"ratio,omitempty"`
}

type forwardWorkload struct {
	Name       string           `json:"name"`
	Command    string           `json:"command"`
	Pipeline   int              `json:"pipeline"`
	Requests   int              `json:"requests"`
	MinRatio   float64          `json:"target_min_ratio"` // of the proxy before stand-ins
	Contenders []forwardSamples `json:"contenders"`
}

type forwardResult struct {
	Backends  int               `json:"backends"`
	Workloads []forwardWorkload `json:"workloads"`
}

func (w *forwardWorkload) summarize() {
	if len(w.Contenders) == 0 || w.Contenders[0].Name != asNutcracker {
		return
	}
	for i := 1; i < len(w.Contenders); i++ {
		c := &w.Contenders[i]
		ratios := make([]float64, len(c.Samples))
		for round, s := range c.Samples {
			ratios[round] = s.OpsPerSec / w.Contenders[0].Samples[round].OpsPerSec
		}
		s := spreadOf(ratios)
		c.Ratio = &s
	}
}

// middle is the median of a figure over the rounds.
func (c *forwardSamples) middle(value func(forwardSample) float64) float64 {
	values := make([]float64, len(c.Samples))
	for i, s := range c.Samples {
		values[i] = value(s)
	}
	return median(values)
}

// cpu is what each process has used; 0 where it is not known.
func (c *contender) cpu() []time.Duration {
	used := make([]time.Duration, len(c.servers))
	for i, s := range c.servers {
		_, used[i], _ = cluster.CPUTime(s.PID())
	}
	return used
}

const forwardFormat = "%-8s%-12s%8s%7s%12s%7s%7s%6s%6s %s"

func forwardRow(w io.Writer, cells ...any) {
	fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf(forwardFormat, cells...), " "))
}

func printForwardHead(w io.Writer, backends int) {
	fmt.Fprintf(w, "\nForwarding to %d backends, 64 B values\n", backends)
	forwardRow(w, "", "", "k ops/s", "ratio", "min–max", "p50 ms", "p99 ms", "front", "all", "target")
}

func printForwardRows(w io.Writer, r forwardWorkload) {
	name := fmt.Sprintf("%s P%d", r.Command, r.Pipeline)
	for i := range r.Contenders {
		c := &r.Contenders[i]
		ratio, span, target := "", "", ""
		if c.Ratio != nil {
			ratio = fixed(c.Ratio.Median, 2)
			span = fixed(c.Ratio.Min, 2) + "–" + fixed(c.Ratio.Max, 2)
			if c.Name == asProxy {
				target = fmt.Sprintf("≥ %.1f %s", r.MinRatio, verdict(c.Ratio.Median >= r.MinRatio))
			}
		}
		forwardRow(w, name, c.Name,
			fixed(c.middle(func(s forwardSample) float64 { return s.OpsPerSec })/1000, 1), ratio, span,
			fixed(c.middle(func(s forwardSample) float64 { return s.P50 }), 2),
			fixed(c.middle(func(s forwardSample) float64 { return s.P99 }), 2),
			fixed(c.middle(func(s forwardSample) float64 { return s.FrontCPU }), 2),
			fixed(c.middle(func(s forwardSample) float64 { return s.AllCPU }), 2), target)
		name = ""
	}
}

func printForwardFoot(w io.Writer) {
	fmt.Fprintln(w)
	wrap(w, "", "nutcracker: nutcracker before redis-servers without persistence. "+
		"proxy: a Ringside proxy before stand-ins that keep everything in memory. "+
		"cluster: a Ringside proxy before Ringside nodes (fsync everysec). "+
		"The ratio is that of ops/s in each round, over nutcracker's. front and all are the CPU of the process "+
		"that clients talk to and of all, in seconds per million commands.")
}
