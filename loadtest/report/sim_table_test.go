package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

func simTableText(t *testing.T, r *sim.Report, o TableOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := SimulationTable(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSimulationTableFitsEightyColumns(t *testing.T) {
	for name, r := range oddSims(t) {
		for line := range strings.Lines(simTableText(t, r, TableOptions{})) {
			if n := Width(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: %d cells: %s", name, n, line)
			}
			if strings.ContainsRune(line, 0x1b) {
				t.Errorf("%s: an escape character in %q", name, line)
			}
		}
	}
}

func TestSimulationTableHasEveryStepAndContender(t *testing.T) {
	r := recordedSim(t)
	for _, o := range []TableOptions{{}, {Width: 200}, {Wide: true}} {
		text := simTableText(t, r, o)
		for i, step := range r.Steps {
			if !strings.Contains(text, fmt.Sprintf("Step %d: %s", i, step.Event)) {
				t.Errorf("no step %d in\n%s", i, text)
			}
		}
		for _, c := range r.Contenders {
			if n := strings.Count(text, "\n"+c.Name+" "); n != len(r.Steps) {
				t.Errorf("%s has %d lines, want %d", c.Name, n, len(r.Steps))
			}
		}
		for _, want := range []string{"seed 3", "3 nodes, 5,000 keys", "1 backup", "(yardstick)", "scenario: " + r.Settings.Scenario, "lookup of a key"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
	}
}

func TestSimulationWideTableHasMoreColumns(t *testing.T) {
	r := recordedSim(t)
	narrow, wide := simTableText(t, r, TableOptions{}), simTableText(t, r, TableOptions{Wide: true})
	if strings.Contains(narrow, "promoted ") || !strings.Contains(wide, "promoted ") {
		t.Error("promotions are for wide tables")
	}
}

func TestSimulationTableNamesMissingFigures(t *testing.T) {
	all := oddSims(t)
	if text := simTableText(t, all["stopped"], TableOptions{}); !strings.Contains(text, "Stopped early: buckets got through 3 steps") {
		t.Error(text)
	}
	if text := simTableText(t, all["empty"], TableOptions{}); !strings.Contains(text, "before anything was done") {
		t.Error(text)
	}
	r := simFake{nodes: 2, steps: 1, seed: 1}.report()
	r.Settings.Backups = 3
	if text := simTableText(t, r, TableOptions{}); !strings.Contains(text, "3 backups (2 copies at the start)") {
		t.Error(text)
	}
}

func TestBestIsMarkedApartFromYardsticks(t *testing.T) {
	contenders := []sim.Contender{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "y", Yardstick: true}}
	for _, tt := range []struct {
		cells []simCell
		want  string
	}{
		{[]simCell{ranked("2", 2), ranked("1", 1), ranked("3", 3), ranked("0", 0)}, "-b--"},
		{[]simCell{ranked("1", 1.001), ranked("1", 1), ranked("3", 3), ranked("0", 0)}, "ab--"}, // alike to a reader
		{[]simCell{ranked("1", 1), ranked("1", 1), ranked("1", 1), ranked("0", 0)}, "----"},
		{[]simCell{ranked("9 → 1", 1), ranked("2 → 2", 2), ranked("1 → 3", 3), {}}, "a---"},
		{[]simCell{{text: None}, ranked("1", 1), ranked("3", 3), {}}, "-b--"},
		{[]simCell{{text: None}, {text: None}, {text: None}, {}}, "----"},
	} {
		got := ""
		for i, isBest := range bestCells(contenders, tt.cells) {
			if isBest {
				got += contenders[i].Name
			} else {
				got += "-"
			}
		}
		if got != tt.want {
			t.Errorf("%v: %s, want %s", tt.cells, got, tt.want)
		}
	}
}

func TestLessThanTheLeastIsNoBetter(t *testing.T) {
	if !(one.off(1.01) < one.off(0.9)) || !(one.off(0.99) < one.off(1.1)) || !(one.off(0) > one.off(100)) {
		t.Error("the best ratio is nearest to 1")
	}
}

func TestSimulationSummaryAddsStepsUp(t *testing.T) {
	r := simFake{nodes: 6, steps: 5, seed: 12}.report()
	total := func(name string, j int) float64 {
		i := slices.IndexFunc(lists().Scenario, func(f figure) bool { return f.Name == name })
		return lists().Scenario[i].total(r, j)
	}
	for j := range r.Contenders {
		var moved, bytes, least int64
		worst, ranges := 0.0, 0
		for _, step := range r.Steps {
			o := step.Outcomes[j]
			moved += o.Moved.Keys
			bytes += o.Moved.Bytes
			least += step.Least.Keys
			worst = max(worst, o.Balance.Keys.Max)
			ranges = max(ranges, o.Ranges)
		}
		ratio := figureNamed(lists().Scenario, "moved/least").ofScenario(r)[j].Text
		if total("moved, keys", j) != float64(moved) || total("moved, bytes", j) != float64(bytes) || total("max/mean, keys", j) != worst ||
			total("placement, ranges", j) != float64(ranges) || ratio != Ratio(float64(moved)/float64(least)) {
			t.Errorf("%s: %d keys, %d bytes, worst %v, %d ranges, ratio %s", r.Contenders[j].Name, moved, bytes, worst, ranges, ratio)
		}
	}
}

// Too much in one step and too little in another are no small movement.
func TestSimulationBestIsNearTheLeastInEachStep(t *testing.T) {
	r := simFake{nodes: 4, steps: 2, seed: 1, contenders: []string{"steady", "lucky"}}.report()
	for i := range r.Steps[1:] {
		step := &r.Steps[i+1]
		step.Least.Keys = 1000
		for j, moved := range [][]int64{{1020, 1020}, {1500, 500}} {
			step.Outcomes[j].Moved.Keys, step.Outcomes[j].Ratio = moved[i], float64(moved[i])/1000
		}
	}
	if got := simVerdict(r); !strings.Contains(got, "closest to the least possible movement: steady 1.02") {
		t.Error(got)
	}
}
