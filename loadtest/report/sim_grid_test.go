package report

import (
	"fmt"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

func nodes(ids ...string) *sim.Step {
	s := &sim.Step{}
	for _, id := range ids {
		s.Nodes = append(s.Nodes, sim.Node{ID: id, Weight: 1})
	}
	return s
}

// gridOf is the frame of a grid after another one.
func gridOf(step, beforeStep *sim.Step, g, before *sim.Grid) []bucketNode {
	if beforeStep == nil {
		step.Outcomes = []sim.Outcome{{Grid: g}}
		return bucketFrameOf(&sim.Report{Steps: []sim.Step{*step}}, 0, 0).Nodes
	}
	step.Outcomes, beforeStep.Outcomes = []sim.Outcome{{Grid: g}}, []sim.Outcome{{Grid: before}}
	return bucketFrameOf(&sim.Report{Steps: []sim.Step{*beforeStep, *step}}, 1, 0).Nodes
}

func changes(nodes []bucketNode) string {
	text := ""
	for _, n := range nodes {
		text += fmt.Sprintf("%s %s %v; ", n.Name, n.Count, n.Changes)
	}
	return text
}

func TestSimulationGridShowsChanges(t *testing.T) {
	before := &sim.Grid{Buckets: []string{"0/1", "1/1"}, Owners: [][]int{{0, 1}, {1, 0}}}
	// b has gone: c takes its place, and a serves both.
	after := &sim.Grid{Buckets: []string{"0/1", "1/1"}, Owners: [][]int{{0, 1}, {0, 1}}}
	got := changes(gridOf(nodes("a", "c"), nodes("a", "b"), after, before))
	if want := "a 2+0=2 [1 to P]; c 0+2=2 [+2 come]; "; got != want {
		t.Errorf("got %s want %s", got, want)
	}
	if got, want := changes(gridOf(nodes("a", "b"), nil, before, nil)), "a 1+1=2 []; b 1+1=2 []; "; got != want {
		t.Errorf("at the start %s want %s", got, want)
	}
}

// A split moves nothing: the children are where their bucket was.
func TestSimulationGridFollowsSplits(t *testing.T) {
	before := &sim.Grid{Buckets: []string{"0000/0001", "0001/0001"}, Owners: [][]int{{0, 1}, {1, 0}}}
	after := &sim.Grid{}
	for id := range 32 {
		after.Buckets = append(after.Buckets, fmt.Sprintf("%04X/001F", id))
		owners := before.Owners[id&1]
		if id == 31 {
			owners = []int{0, 1} // from b to a
		}
		after.Owners = append(after.Owners, owners)
	}
	got := changes(gridOf(nodes("a", "b"), nodes("a", "b"), after, before))
	if want := "a 17+15=32 [1 to P]; b 15+17=32 [1 to S]; "; got != want {
		t.Errorf("got %s want %s", got, want)
	}
}

func TestGridTakesSenselessInput(t *testing.T) {
	g := &sim.Grid{Buckets: []string{"", "x/y", "0/1/2", "ffffffffffffffffff/1"}, Owners: [][]int{{7}, {-1, 0}, nil, {0, 0}, {0}}}
	gridOf(nodes("a"), nodes("a"), g, g)
	gridOf(nodes(), nodes(), &sim.Grid{}, g)
}

func TestLoadsAreMultiplesOfTheFairShare(t *testing.T) {
	s := &sim.Step{Nodes: []sim.Node{{ID: "a", Weight: 1}, {ID: "b", Weight: 3}}}
	s.Outcomes = []sim.Outcome{{Nodes: []sim.NodeLoad{{Primary: sim.Amount{Keys: 20}}, {Primary: sim.Amount{Keys: 20}}}}}
	l := loads(s, 0)
	if len(l) != 2 || l[0] != 20.0/30 || l[1] != 2 {
		t.Errorf("%v", l)
	}
	if q := quantiles(l); q[0] != l[0] || q[4] != l[1] {
		t.Errorf("%v", q)
	}
	for n := range 400 {
		loads := make([]float64, n)
		for i := range loads {
			loads[i] = float64(i)
		}
		x, y := staircase(loads)
		if n == 0 {
			continue
		}
		if last := len(y) - 1; y[0] != 0 || y[last] != float64(n-1) || x[last] != 100 || last > mostStairs {
			t.Errorf("%d nodes: %d points to %v", n, last, y[last])
		}
	}
}

func TestLoadStepsBeginAndEnd(t *testing.T) {
	for n := 1; n < 100; n++ {
		r := &sim.Report{Steps: make([]sim.Step, n)}
		steps := loadSteps(r)
		if steps[0] != 0 || steps[len(steps)-1] != n-1 || len(steps) > mostLoadSteps || len(steps) < min(n, 2) {
			t.Errorf("of %d steps: %v", n, steps)
		}
	}
}
