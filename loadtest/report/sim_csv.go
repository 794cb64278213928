package report

import (
	"encoding/csv"
	"io"
	"reflect"
	"strconv"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// SimulationCSV writes one line for each step and contender, with every figure of the step and
// of the outcome. A column has the name of its path in the JSON form, from the step
// or the outcome on: least.keys, moved.bytes, balance.zipf.max, compute_ns. step is
// the number of the step, node_count the members after it, contender and yardstick
// are the contender's. What JSON has as lists, the loads of single nodes and the
// grids, is only there.
func SimulationCSV(w io.Writer, r *sim.Report) error {
	out := csv.NewWriter(w)
	head := []string{"step", "event", "node_count", "contender", "yardstick"}
	head = append(head, fieldNames(reflect.TypeFor[sim.Amount](), "least")...)
	_ = out.Write(append(head, fieldNames(reflect.TypeFor[sim.Outcome](), "")...))
	for i := range r.Steps {
		step := &r.Steps[i]
		for j := range step.Outcomes {
			c := r.Contenders[j]
			row := []string{strconv.Itoa(i), step.Event, strconv.Itoa(len(step.Nodes)), c.Name, strconv.FormatBool(c.Yardstick)}
			row = append(row, fieldTexts(reflect.ValueOf(step.LeastOf(j)))...)
			_ = out.Write(append(row, fieldTexts(reflect.ValueOf(step.Outcomes[j]))...))
		}
	}
	return flushed(out)
}
