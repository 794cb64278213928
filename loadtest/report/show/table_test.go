package show

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

func tableText(t *testing.T, r *sim.Report, o TableOptions) string {
	t.Helper()
	var b bytes.Buffer
	if err := Table(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTableFitsEightyColumns(t *testing.T) {
	for name, r := range odd(t) {
		for line := range strings.Lines(tableText(t, r, TableOptions{})) {
			if n := report.Width(strings.TrimSuffix(line, "\n")); n > 80 {
				t.Errorf("%s: %d cells: %s", name, n, line)
			}
			if strings.ContainsRune(line, 0x1b) {
				t.Errorf("%s: an escape character in %q", name, line)
			}
		}
	}
}

func TestTableHasEveryStepAndContender(t *testing.T) {
	r := recorded(t)
	for _, o := range []TableOptions{{}, {Width: 200}, {Wide: true}} {
		text := tableText(t, r, o)
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

func TestWideTableHasMoreColumns(t *testing.T) {
	r := recorded(t)
	narrow, wide := tableText(t, r, TableOptions{}), tableText(t, r, TableOptions{Wide: true})
	if strings.Contains(narrow, "promoted ") || !strings.Contains(wide, "promoted ") {
		t.Error("promotions are for wide tables")
	}
}

func TestTableSaysWhatIsMissing(t *testing.T) {
	all := odd(t)
	if text := tableText(t, all["stopped"], TableOptions{}); !strings.Contains(text, "Stopped early: buckets got through 3 steps") {
		t.Error(text)
	}
	if text := tableText(t, all["empty"], TableOptions{}); !strings.Contains(text, "before anything was done") {
		t.Error(text)
	}
	r := fake{nodes: 2, steps: 1, seed: 1}.report()
	r.Settings.Backups = 3
	if text := tableText(t, r, TableOptions{}); !strings.Contains(text, "3 backups (2 copies at the start)") {
		t.Error(text)
	}
}

func TestBestIsMarkedApartFromYardsticks(t *testing.T) {
	contenders := []sim.Contender{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "y", Yardstick: true}}
	for _, tt := range []struct {
		cells []cell
		want  string
	}{
		{[]cell{ranked("2", 2), ranked("1", 1), ranked("3", 3), ranked("0", 0)}, "-b--"},
		{[]cell{ranked("1", 1.001), ranked("1", 1), ranked("3", 3), ranked("0", 0)}, "ab--"}, // alike to a reader
		{[]cell{ranked("1", 1), ranked("1", 1), ranked("1", 1), ranked("0", 0)}, "----"},
		{[]cell{ranked("9 → 1", 1), ranked("2 → 2", 2), ranked("1 → 3", 3), {}}, "a---"},
		{[]cell{{text: report.None}, ranked("1", 1), ranked("3", 3), {}}, "-b--"},
		{[]cell{{text: report.None}, {text: report.None}, {text: report.None}, {}}, "----"},
	} {
		got := ""
		for i, isBest := range best(contenders, tt.cells) {
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
	if !(offLeast(1.01) < offLeast(0.9)) || !(offLeast(0.99) < offLeast(1.1)) || !(offLeast(0) > offLeast(100)) {
		t.Error("the best ratio is nearest to 1")
	}
}

func TestSummaryAddsStepsUp(t *testing.T) {
	r := fake{nodes: 6, steps: 5, seed: 12}.report()
	for j, s := range Summarize(r) {
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
		if s.Moved != (sim.Amount{Keys: moved, Bytes: bytes}) || s.Least.Keys != least || s.WorstKeys != worst || s.Ranges != ranges ||
			s.Ratio != float64(moved)/float64(least) {
			t.Errorf("%s: %+v", r.Contenders[j].Name, s)
		}
	}
}
