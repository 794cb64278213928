package report

import (
	"encoding/csv"
	"io"
	"reflect"
	"strconv"
	"strings"

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
	head = appendNames(head, "least", reflect.TypeFor[sim.Amount]())
	head = appendNames(head, "", reflect.TypeFor[sim.Outcome]())
	_ = out.Write(head)
	for i := range r.Steps {
		step := &r.Steps[i]
		for j := range step.Outcomes {
			c := r.Contenders[j]
			row := []string{strconv.Itoa(i), step.Event, strconv.Itoa(len(step.Nodes)), c.Name, strconv.FormatBool(c.Yardstick)}
			row = appendValues(row, reflect.ValueOf(step.Least))
			row = appendValues(row, reflect.ValueOf(step.Outcomes[j]))
			_ = out.Write(row)
		}
	}
	return flushed(out)
}

// appendNames adds the paths of all numbers in a type.
func appendNames(names []string, path string, t reflect.Type) []string {
	if t.Kind() != reflect.Struct {
		if isNumber(t.Kind()) {
			names = append(names, path)
		}
		return names
	}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if path != "" {
			name = path + "." + name
		}
		names = appendNames(names, name, t.Field(i).Type)
	}
	return names
}

// appendValues adds the numbers in the order of appendNames.
func appendValues(row []string, v reflect.Value) []string {
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			row = appendValues(row, v.Field(i))
		}
	case v.CanFloat():
		row = append(row, strconv.FormatFloat(v.Float(), 'g', -1, 64))
	case v.CanInt():
		row = append(row, strconv.FormatInt(v.Int(), 10))
	}
	return row
}

func isNumber(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Int64 || k == reflect.Float64 || k == reflect.Float32
}
