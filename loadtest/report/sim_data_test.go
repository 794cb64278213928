package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

func TestSimulationJSONIsTheReport(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range oddSims(t) {
		var b bytes.Buffer
		if err := SimulationJSON(&b, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var again sim.Report
		if err := json.Unmarshal(b.Bytes(), &again); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var c bytes.Buffer
		if err := SimulationJSON(&c, &again); err != nil || !bytes.Equal(b.Bytes(), c.Bytes()) {
			t.Errorf("%s: written again, it differs (%v)", name, err)
		}
	}
	r := recordedSim(t)
	var b bytes.Buffer
	if err := SimulationJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var again sim.Report
	if err := json.Unmarshal(b.Bytes(), &again); err != nil || !reflect.DeepEqual(&again, r) {
		t.Errorf("read back, it differs (%v)", err)
	}
}

// Each number of the CSV is that under the same path of the JSON form.
func TestSimulationCSVHasThePathsOfJSON(t *testing.T) {
	for name, r := range oddSims(t) {
		var b bytes.Buffer
		if err := SimulationCSV(&b, r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines, err := csv.NewReader(&b).ReadAll()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		head, lines := lines[0], lines[1:]
		k := 0
		for i, step := range r.Steps {
			for j := range step.Outcomes {
				checkCSVLine(t, head, lines[k], r, i, j)
				k++
			}
		}
		if k != len(lines) {
			t.Errorf("%s: %d lines, want %d", name, len(lines), k)
		}
	}
}

func checkCSVLine(t *testing.T, head, line []string, r *sim.Report, i, j int) {
	t.Helper()
	step, c := r.Steps[i], r.Contenders[j]
	paths := generic(t, step.Outcomes[j])
	paths["least"] = generic(t, step.Least)
	for k, name := range head {
		var want any
		switch name {
		case "step":
			want = float64(i)
		case "node_count":
			want = float64(len(step.Nodes))
		case "event", "contender", "yardstick":
			if text := map[string]string{"event": step.Event, "contender": c.Name, "yardstick": strconv.FormatBool(c.Yardstick)}[name]; line[k] != text {
				t.Errorf("%s is %q, want %q", name, line[k], text)
			}
			continue
		default:
			want = paths
			for part := range strings.SplitSeq(name, ".") {
				want = want.(map[string]any)[part]
			}
		}
		if got, err := strconv.ParseFloat(line[k], 64); err != nil || got != want {
			t.Errorf("step %d, %s: %s is %s, want %v (%v)", i, c.Name, name, line[k], want, err)
		}
	}
}

func generic(t *testing.T, v any) map[string]any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestSimulationCSVHasEveryFigure(t *testing.T) {
	var b bytes.Buffer
	if err := SimulationCSV(&b, &sim.Report{}); err != nil {
		t.Fatal(err)
	}
	want := "step,event,node_count,contender,yardstick,least.keys,least.bytes,moved.keys,moved.bytes,moved_backups.keys,moved_backups.bytes,moved_to_least," +
		"between_survivors.keys,between_survivors.bytes,promoted_keys,lost.keys,lost.bytes," +
		"balance.keys.min,balance.keys.max,balance.keys.cv,balance.bytes.min,balance.bytes.max,balance.bytes.cv,balance.copies.min,balance.copies.max,balance.copies.cv," +
		"balance.uniform.min,balance.uniform.max,balance.uniform.cv,balance.zipf.min,balance.zipf.max,balance.zipf.cv,balance.hotspot.min,balance.hotspot.max,balance.hotspot.cv," +
		"ranges,encoded_bytes,memory_bytes,compute_ns,lookup_ns,locate_ns,keys_in_one_zone\n"
	if b.String() != want {
		t.Errorf("the header is\n%swant\n%s", &b, want)
	}
}

func TestSimulationMarkdownDoesNotDependOnTimes(t *testing.T) {
	r := recordedSim(t)
	text := func() string {
		var b bytes.Buffer
		if err := SimulationMarkdown(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	before := text()
	r.Took, r.Settings.Machine, r.Settings.Go = 1, "another", "go9"
	for i := range r.Steps {
		for j := range r.Steps[i].Outcomes {
			o := &r.Steps[i].Outcomes[j]
			o.Compute, o.LookupNanos, o.LocateNanos = 1, 2, 3
		}
	}
	if after := text(); after != before {
		t.Errorf("%s\nbecame\n%s", before, after)
	}
}

func TestSimulationMarkdownTablesAreComplete(t *testing.T) {
	for name, r := range oddSims(t) {
		var b bytes.Buffer
		if err := SimulationMarkdown(&b, r); err != nil {
			t.Fatal(err)
		}
		columns := 0
		for line := range strings.Lines(b.String()) {
			line = strings.ReplaceAll(line, `\|`, "")
			switch {
			case !strings.HasPrefix(line, "|"):
				columns = 0
			case columns == 0:
				columns = strings.Count(line, "|")
			case strings.Count(line, "|") != columns:
				t.Errorf("%s: %d bars, want %d: %s", name, strings.Count(line, "|"), columns, line)
			}
			if strings.Contains(line, "<script") {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
