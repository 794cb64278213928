package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/ring"
)

func events(t *testing.T, scenario, order string, nodes int) []string {
	t.Helper()
	script, err := play(scenario, order, nodes)
	if err != nil {
		t.Fatalf("%q: %v", scenario, err)
	}
	var events []string
	for i := range script.scenes {
		s := &script.scenes[i]
		events = append(events, fmt.Sprintf("%s = %d", s.event, len(s.members)))
	}
	return events[1:]
}

func play(scenario, order string, nodes int) (*script, error) {
	parsed, err := ParseScenario(scenario)
	if err != nil {
		return nil, err
	}
	c := Config{Members: Nodes(nodes), Order: order, Seed: 7, NewNode: "node-", NewWeight: 1}
	return c.play(parsed, 1_000_000)
}

func TestScenarioDescribesItsSteps(t *testing.T) {
	for _, test := range []struct {
		scenario, order string
		want            []string
	}{
		{"", LIFO, nil},
		{" ; ;", LIFO, nil},
		{"strategy  ketama points 40; add", LIFO, []string{"strategy ketama points 40 = 10", "add node-11 = 11"}},
		{"add", LIFO, []string{"add node-11 = 11"}},
		{"add 2", LIFO, []string{"add node-11 = 11", "add node-12 = 12"}},
		{"add 8 at once", LIFO, []string{"add 8 nodes = 18"}},
		{"add 1 at once", LIFO, []string{"add node-11 = 11"}},
		{"remove", LIFO, []string{"remove node-10 = 9"}},
		{"remove", FIFO, []string{"remove node-1 = 9"}},
		{"remove 2", FIFO, []string{"remove node-1 = 9", "remove node-2 = 8"}},
		{"add; remove", LIFO, []string{"add node-11 = 11", "remove node-11 = 10"}},
		{"remove; add", LIFO, []string{"remove node-10 = 9", "add node-11 = 10"}},
		{"remove 2 at once", LIFO, []string{"remove 2 of 10 = 8"}},
		{"remove 90% at once", LIFO, []string{"remove 9 of 10 = 1"}},
		{"remove 25%", LIFO, []string{"remove node-10 = 9", "remove node-9 = 8"}},
		{"crash 1%", FIFO, []string{"crash node-1 = 9"}},
		{"crash", LIFO, []string{"crash node-10 = 9"}},
		{"crash 3", LIFO, []string{"crash 3 of 10 = 7"}},
		{"crash 3 at once", LIFO, []string{"crash 3 of 10 = 7"}},
		{"crash 2;remove;restore", FIFO, []string{"crash 2 of 10 = 8", "remove node-3 = 7", "restore 3 nodes = 10"}},
		{"remove; restore; remove", FIFO, []string{"remove node-1 = 9", "restore node-1 = 10", "remove node-2 = 9"}},
		{"weight 2", LIFO, []string{"weight of node-10 from 1 to 2 = 10"}},
		{"weight node-3 0.5", LIFO, []string{"weight of node-3 from 1 to 0.5 = 10"}},
		{"\tweight\n node-3   2 ;add", LIFO, []string{"weight of node-3 from 1 to 2 = 10", "add node-11 = 11"}},
		{DefaultScenario, LIFO, []string{
			"add node-11 = 11", "remove node-11 = 10",
			"add node-12 = 11", "add node-13 = 12", "add node-14 = 13", "add node-15 = 14", "add node-16 = 15",
			"remove 13 of 15 = 2", "restore 14 nodes = 16", "weight of node-3 from 1 to 2 = 16", "crash node-3 = 15",
		}},
	} {
		if got := events(t, test.scenario, test.order, 10); !slices.Equal(got, test.want) {
			t.Errorf("%q, %s:\n got %q\nwant %q", test.scenario, test.order, got, test.want)
		}
	}
}

func TestScenarioFaultsNameTheirColumns(t *testing.T) {
	for _, test := range []struct {
		scenario string
		columns  []int
	}{
		{"jump", []int{1}},
		{"add; jump", []int{6}},
		{"add x; remove -1; crash 0", []int{5, 15, 25}},
		{"add 99999999999999999999", []int{5}},
		{"add 50%", []int{5}},
		{"add 3 at", []int{7}},
		{"add 3 4", []int{7}},
		{"remove 0%", []int{8}},
		{"remove 101%", []int{8}},
		{"remove NaN%", []int{8}},
		{"restore 3", []int{9}},
		{"add; strategy", []int{6}},
		{"strategy kettle", []int{10}},
		{"strategy ketama points", []int{10}},
		{"strategy ketama vnodes 3; add x", []int{10, 31}},
		{"restore at once", []int{9}},
		{"shuffle 3 at once", []int{11}},
		{"weight", []int{1}},
		{"weight a b c", []int{1}},
		{"weight 0", []int{8}},
		{"weight NaN", []int{8}},
		{"weight node-1 1e9", []int{15}},
		{"add;  weight nobody 2", []int{7}},
		{"remove; weight node-10 2", []int{9}},
		{"restore", []int{1}},
		{"remove 10", []int{1}},
		{"remove 100% at once", []int{1}},
		{"remove 9 at once; add; crash 2", []int{24}},
		{"add 9991", []int{1}},
	} {
		_, err := play(test.scenario, LIFO, 10)
		if !errors.Is(err, ErrScenario) {
			t.Errorf("%q: error %v", test.scenario, err)
			continue
		}
		for _, column := range test.columns {
			if !strings.Contains(err.Error(), fmt.Sprintf("column %d:", column)) {
				t.Errorf("%q: %q does not name column %d", test.scenario, err, column)
			}
		}
		if n := strings.Count(err.Error(), "column"); n != len(test.columns) {
			t.Errorf("%q: %d faults, want %d: %v", test.scenario, n, len(test.columns), err)
		}
	}
}

func TestScenarioIsBounded(t *testing.T) {
	for _, scenario := range []string{
		strings.Repeat("add 10000 at once; remove 99% at once;", 1000),
		"shuffle 10000; shuffle 10000",
		"add 5000",
		strings.Repeat("x;", 40_000),
	} {
		if _, err := play(scenario, LIFO, 10); !errors.Is(err, ErrScenario) {
			t.Errorf("%.30q…: error %v", scenario, err)
		}
	}
}

func TestRestoredNodesKeepIDAndWeight(t *testing.T) {
	script, err := play("weight node-2 3; remove 90% at once; crash; restore", FIFO, 20)
	if err != nil {
		t.Fatal(err)
	}
	last := script.scenes[len(script.scenes)-1]
	if len(last.members) != 20 || len(script.nodes) != 20 {
		t.Fatalf("%d members of %d", len(last.members), len(script.nodes))
	}
	for _, m := range last.members {
		want := 1.0
		if m.ID == "node-2" {
			want = 3
		}
		if m.Weight != want {
			t.Errorf("%s has weight %v", m.ID, m.Weight)
		}
	}
}

func TestNewNodesHaveNewNames(t *testing.T) {
	parsed, err := ParseScenario("add 3; remove 2; add")
	if err != nil {
		t.Fatal(err)
	}
	start := []ring.Member{{ID: "n3", Weight: 1}, {ID: "n4", Weight: 1}}
	c := Config{Members: start, Order: LIFO, NewNode: "n", NewWeight: 1}
	script, err := c.play(parsed, 1000)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"n3", "n4", "n5", "n6", "n7", "n8"}; !slices.Equal(script.nodes, want) {
		t.Errorf("%q, want %q", script.nodes, want)
	}
}

func FuzzScenario(f *testing.F) {
	for _, s := range []string{
		DefaultScenario, "add 8 at once; remove 3; crash 10%", "weight node-3 2; shuffle 20", "restore", "remove 1e-300%; add 9999",
		"crash 99.99999999% at once;;", "weight \x00 1", "add\u00a02",
	} {
		f.Add(s, uint64(1), uint8(0))
	}
	f.Fuzz(func(t *testing.T, text string, seed uint64, order uint8) {
		scenario, err := ParseScenario(text)
		if err != nil {
			if !errors.Is(err, ErrScenario) {
				t.Fatal(err)
			}
			return
		}
		c := Config{
			Members:   Nodes(5),
			Order:     []string{Random, LIFO, FIFO}[order%3],
			Seed:      seed,
			NewNode:   "node-",
			NewWeight: 1,
		}
		script, err := c.play(scenario, 50_000)
		if err != nil {
			if !errors.Is(err, ErrScenario) {
				t.Fatal(err)
			}
			return
		}
		for i := range script.scenes {
			s := &script.scenes[i]
			if len(s.members) == 0 || len(s.members) != len(s.places) {
				t.Fatalf("%q: %d members at %d places", s.event, len(s.members), len(s.places))
			}
			if _, err := ring.SortedMembers(s.members); err != nil {
				t.Fatalf("%q: %v", s.event, err)
			}
			for j, m := range s.members {
				if script.nodes[s.places[j]] != m.ID {
					t.Fatalf("%q: %s is not at place %d", s.event, m.ID, s.places[j])
				}
			}
		}
	})
}
