package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/loadtest/result"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// sampled is a sample with the sums of all nodes; nil is what no node reported.
type sampled struct {
	Handoffs    int64    `json:"handoffs"`
	MovedKeys   int64    `json:"moved_keys"`
	MovedBytes  int64    `json:"moved_bytes"`
	Forwarded   float64  `json:"forwarded"`
	Cores       *float64 `json:"cores"`
	MemoryBytes *int64   `json:"memory_bytes"`
}

func sampledOf(s *result.Sample) *sampled {
	all := sampled{Handoffs: s.Handoffs, MovedKeys: s.MovedKeys, MovedBytes: s.MovedBytes, Forwarded: s.Forwarded}
	for i := range s.Nodes {
		if c := s.Nodes[i].Cores; c != nil && !isNone(*c) {
			all.Cores = plus(all.Cores, *c)
		}
		if m := s.Nodes[i].MemoryBytes; m != nil {
			all.MemoryBytes = plus(all.MemoryBytes, *m)
		}
	}
	return &all
}

func plus[N int64 | float64](sum *N, x N) *N {
	if sum != nil {
		x += *sum
	}
	return &x
}

// CSV writes one line for each contestant, round and window. Its columns are contestant,
// round and phase (the step of the script in which the window begins), then those of a
// Window by their names in JSON, then those of the Sample of that time: handoffs,
// moved_keys, moved_bytes and forwarded, and cores and memory_bytes, the sums of all nodes.
// Unknown values are empty.
func CSV(w io.Writer, r *result.Report) error {
	out := csv.NewWriter(w)
	ofWindow, ofSample := fieldsOf[result.Window](), fieldsOf[sampled]()
	_ = out.Write(slices.Concat([]string{"contestant", "round", "phase"}, ofWindow.names(""), ofSample.names("")))
	for c, run := range runs(r) {
		phase, sample := 0, 0
		for k := range run.Windows {
			window := &run.Windows[k]
			for phase < len(run.Phases)-1 && window.AtMS >= run.Phases[phase].UntilMS {
				phase++
			}
			for sample < len(run.Samples) && run.Samples[sample].AtMS < window.AtMS {
				sample++
			}
			name, samples := "", make([]string, len(ofSample))
			if phase < len(run.Phases) {
				name = run.Phases[phase].Name
			}
			if sample < len(run.Samples) && run.Samples[sample].AtMS < window.AtMS+max(r.WindowMS, 1) {
				samples = ofSample.texts(sampledOf(&run.Samples[sample]))
			}
			_ = out.Write(slices.Concat([]string{c.Name, strconv.Itoa(run.Round), name}, ofWindow.texts(window), samples))
		}
	}
	return flushed(out)
}

// EventsCSV writes one line for each contestant, round and event: contestant and round, then
// the event's fields by their names in JSON, with dots between the parts.
func EventsCSV(w io.Writer, r *result.Report) error {
	out := csv.NewWriter(w)
	ofEvent := fieldsOf[result.Event]()
	_ = out.Write(append([]string{"contestant", "round"}, ofEvent.names("")...))
	for c, run := range runs(r) {
		for k := range run.Events {
			_ = out.Write(append([]string{c.Name, strconv.Itoa(run.Round)}, ofEvent.texts(&run.Events[k])...))
		}
	}
	return flushed(out)
}

// SimulationCSV writes one line for each step and contender, with every figure of the step and
// of the outcome. A column has the name of its path in the JSON form, from the step
// or the outcome on: least.keys, moved.bytes, balance.zipf.max, compute_ns. step is
// the number of the step, node_count the members after it, contender and yardstick
// are the contender's. What JSON has as lists, the loads of single nodes and the
// grids, is only there.
func SimulationCSV(w io.Writer, r *sim.Report) error {
	out := csv.NewWriter(w)
	ofLeast, ofOutcome := fieldsOf[sim.Amount](), fieldsOf[sim.Outcome]()
	head := []string{"step", "event", "node_count", "contender", "yardstick"}
	_ = out.Write(slices.Concat(head, ofLeast.names("least."), ofOutcome.names("")))
	for i := range r.Steps {
		step := &r.Steps[i]
		for j := range step.Outcomes {
			c, least := r.Contenders[j], step.LeastOf(j)
			line := []string{strconv.Itoa(i), step.Event, strconv.Itoa(len(step.Nodes)), c.Name, strconv.FormatBool(c.Yardstick)}
			_ = out.Write(slices.Concat(line, ofLeast.texts(&least), ofOutcome.texts(&step.Outcomes[j])))
		}
	}
	return flushed(out)
}

// flushed returns the first error of all writes.
func flushed(out *csv.Writer) error {
	out.Flush()
	if err := out.Error(); err != nil {
		return fmt.Errorf("write csv: %w", err)
	}
	return nil
}
