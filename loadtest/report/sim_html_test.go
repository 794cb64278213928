package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

func simPageOf(t *testing.T, r *sim.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := SimulationHTML(&b, r, PageOptions{Command: "ringside simulate --node '<i>' --seed 1", Version: "v1.2.3"}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestSimulationPageIsSelfContained(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range oddSims(t) {
		t.Run(name, func(t *testing.T) {
			p := checkAlone(t, simPageOf(t, r))
			for _, want := range []string{"v1.2.3", "--node '<i>' --seed 1"} {
				if !strings.Contains(fmt.Sprint(p.Sections), want) {
					t.Errorf("no %s", want)
				}
			}
		})
	}
}

func TestSimulationPageHasEveryStepAndContender(t *testing.T) {
	r := recordedSim(t)
	p := checkAlone(t, simPageOf(t, r))
	steps := texts(p, "steps")
	for j, c := range r.Contenders {
		if n := strings.Count(steps, "\n"+c.Name+" |"); n != len(r.Steps) {
			t.Errorf("%s has %d rows in the steps, want %d", c.Name, n, len(r.Steps))
		}
		if p.Names[j].Name != c.Name || p.Names[j].Title != c.Title {
			t.Errorf("%s is in no legend", c.Name)
		}
	}
	for i, step := range r.Steps {
		if want := fmt.Sprintf("Step %d: %s", i, step.Event); !strings.Contains(steps, want) {
			t.Errorf("no %q", want)
		}
		if got, want := bucketsSection(r).Parts[0].Grids.Frames[i].Name, fmt.Sprintf("buckets, %d: %s", i, step.Event); got != want {
			t.Errorf("a grid of %s, want %s", got, want)
		}
	}
	for _, columns := range [][][2]string{glossaryOf(0), glossaryOf(1)} {
		for _, c := range columns {
			if !strings.Contains(texts(p, "glossary"), c[0]) {
				t.Errorf("%s is not explained", c[0])
			}
		}
	}
}

func TestSimulationPageHasCirclesOfPlacements(t *testing.T) {
	cfg := sim.DefaultConfig()
	cfg.Strategies = []string{"buckets", "ketama", "vnode", "mod"}
	cfg.Keys, cfg.Scenario, cfg.Members = 1000, "add; crash", sim.Nodes(3)
	r, err := sim.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := checkAlone(t, simPageOf(t, r))
	for _, s := range p.Sections {
		if s.ID != "owners" {
			continue
		}
		for k, c := range s.Parts[0].Circles.Each {
			if c.Name != []string{"buckets", "ketama", "vnode"}[k] || len(c.States) != 3 || strings.Contains(c.States[2].Primary, ".") {
				t.Errorf("%s has %d states", c.Name, len(c.States))
			}
		}
		return
	}
	t.Error("no circles")
}

func glossaryOf(which int) [][2]string {
	steps, summary := SimulationGlossary()
	return [][][2]string{steps, summary}[which]
}

func TestSimulationPageStaysSmall(t *testing.T) {
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	const most = 5 << 20
	for name, f := range map[string]simFake{
		"1,000 nodes, 40 steps":       {nodes: 1000, steps: 40, seed: 1},
		"50 nodes with grids":         {nodes: 50, steps: 40, seed: 2},
		"2,000 steps":                 {nodes: 3, steps: 2000, seed: 3},
		"32 contenders, 100 steps":    {nodes: 20, steps: 100, seed: 4, contenders: strings.Fields(strings.Repeat("vnode:1 ketama:2 ", 16))},
		"long names, 64 nodes, grids": {nodes: 60, steps: 12, seed: 5, name: func(i int) string { return fmt.Sprintf("%0250d", i) }},
	} {
		page := simPageOf(t, f.report())
		t.Logf("%s: %d kB", name, len(page)/1000)
		if len(page) > most {
			t.Errorf("%s: %d bytes", name, len(page))
		}
	}
}

func TestSimulationPictureIsOneSVG(t *testing.T) {
	for name, r := range oddSims(t) {
		var b, again bytes.Buffer
		if err := SimulationPicture(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := SimulationPicture(&again, r); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: drawn again, it differs (%v)", name, err)
		}
		checkPicture(t, name, b.String())
	}
}
