package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// A misspelt field, goal or unit of figures.json would change tables without a word.
func TestFiguresFileHasKnownFieldsAndValues(t *testing.T) {
	decoder := json.NewDecoder(bytes.NewReader(figuresText))
	decoder.DisallowUnknownFields()
	var all figureLists
	if err := decoder.Decode(&all); err != nil {
		t.Fatal(err)
	}
	known := func(u unit) bool {
		_, bounded := bounds[u]
		return bounded || plainly[u] != nil
	}
	goals, sums := []goal{none, low, high, one}, []string{"", "sum", "max", "median"}
	for _, f := range slices.Concat(all.Run, all.Event, all.Phase, all.Command, all.Step, all.Balance, all.Scenario) {
		if f.Name == "" || !known(f.Unit) || !slices.Contains(goals, f.Goal) || !slices.Contains(sums, f.Over) {
			t.Errorf("%q: unit %q, goal %q, over %q", f.Name, f.Unit, f.Goal, f.Over)
		}
	}
	for _, f := range slices.Concat(all.Step, all.Scenario) {
		if f.Help == "" {
			t.Errorf("%q has no help", f.Name)
		}
	}
	for _, m := range slices.Concat(all.ClientCharts, all.ClusterCharts, all.NodeCharts) {
		if m.Title == "" || m.Help == "" || !known(m.Unit) || len(m.Lines) == 0 || !slices.Contains([]string{"windows", "samples", "nodes"}, m.Of) {
			t.Errorf("chart %q: %+v", m.Title, m)
		}
	}
}
