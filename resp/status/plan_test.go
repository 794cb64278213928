package status

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/ringside-kv/ringside/ring"
)

func drawPlan(t *testing.T, p *Plan, cells int) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.Draw(&b, cells); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(b.String(), "\n") {
		if n := width(line); n > max(cells, LeastWidth) || strings.TrimRight(line, " ") != line {
			t.Errorf("line %d takes %d cells: %q", i+1, n, line)
		}
	}
	return b.String()
}

func samplePlan() *Plan {
	return &Plan{
		Join: []string{"d of weight 2"}, Leave: []string{"a"}, Strategy: Strategy{Name: "buckets", Mask: "00FF", Hash: "native", Backups: 1},
		Moves: []PlannedMove{
			{From: "a", To: "d", Ranges: 86, Keys: 1_234_567, Bytes: 3 << 30},
			{From: "b", To: "d", Ranges: 21, Keys: 250, Bytes: 26 << 10},
			{From: "c", To: "d", Ranges: 21, Fault: "it does not answer"},
		},
		Nodes: []PlannedNode{
			{ID: "a", Before: PlannedLoad{86, 0.336, 85}}, {ID: "b", Before: PlannedLoad{85, 0.332, 86}, After: PlannedLoad{64, 0.25, 80}},
			{ID: "c", Before: PlannedLoad{85, 0.332, 86}, After: PlannedLoad{64, 0.25, 80}}, {ID: "d", After: PlannedLoad{128, 0.5, 96}},
		},
		Rate: 120 << 20, Measured: 7, Promotions: 3, Drops: 1, Running: 2,
	}
}

// What RING PLAN shows; go test -update accepts what is drawn.
func TestPlansAreDrawn(t *testing.T) {
	plain := samplePlan()
	bounded := samplePlan()
	bounded.Throttle, bounded.Rate, bounded.Paused = 16<<20, 16<<20, true
	nothing := samplePlan()
	nothing.Moves, nothing.Promotions, nothing.Drops, nothing.Running = nil, 0, 0, 0
	assumed := samplePlan()
	assumed.Measured, assumed.Promotions, assumed.Drops, assumed.Running = 0, 0, 0, 0
	hot := samplePlan()
	hot.Balance = &PlannedBalance{
		Before: 2.41, After: 2.1, Busiest: "b", Ranges: 3, Bytes: 5 << 20, Hottest: ring.Range{Start: 0x29000000, End: 0x2a000000}, HottestShare: 2.07,
		Loads: map[string][2]float64{"b": {4100, 3600}},
	}
	for name, p := range map[string]*Plan{"plan_hot": hot, "plan": plain, "plan_bounded": bounded, "plan_nothing": nothing, "plan_assumed": assumed} {
		got := drawPlan(t, p, 80)
		file := filepath.Join("testdata", name+".txt")
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: drawn:\n%s\nwanted:\n%s", name, got, want)
		}
	}
}

// The busiest node says how long it takes: one handoff is sent and one received at a
// time.
func TestPlansTakeAsLongAsTheBusiestNode(t *testing.T) {
	p := &Plan{Rate: 10, Moves: []PlannedMove{{From: "a", To: "b", Bytes: 100}, {From: "a", To: "c", Bytes: 50}, {From: "d", To: "b", Bytes: 40}, {From: "e", To: "f", Bytes: 120}}}
	if got := p.Seconds(); got != 15 {
		t.Errorf("%v seconds", got)
	}
	p.Moves = append(p.Moves, PlannedMove{From: "g", To: "b", Bytes: 60})
	if got := p.Seconds(); got != 20 {
		t.Errorf("%v seconds", got)
	}
	if got := new(Plan).Seconds(); got != 0 {
		t.Errorf("%v seconds", got)
	}
}

func TestAnyPlanIsDrawn(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 2))
	for range 300 {
		p := new(Plan)
		scramble(rnd, reflect.ValueOf(p).Elem(), []string{"", "a", "b\x1b[2J", strings.Repeat("x", 300), "日本語のノード", "\xff\xfe", "vnode"})
		if text := drawPlan(t, p, 40+rnd.IntN(120)); strings.Contains(text, "\x1b") || !utf8.ValidString(text) || t.Failed() {
			t.Fatalf("%q", text)
		}
	}
}
