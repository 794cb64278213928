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
			page := simPageOf(t, r)
			checkAlone(t, page)
			if strings.Contains(page, "<i>") || strings.Contains(page, "<image") {
				t.Error("something that is not escaped, or an image")
			}
			for _, want := range []string{"v1.2.3", "--node &#39;&lt;i&gt;&#39; --seed 1"} {
				if !strings.Contains(page, want) {
					t.Errorf("no %s", want)
				}
			}
		})
	}
}

func TestSimulationPageHasEveryStepAndContender(t *testing.T) {
	r := recordedSim(t)
	page := simPageOf(t, r)
	for _, c := range r.Contenders {
		if n := strings.Count(page, "<th scope=\"row\">"+c.Name+"</th>"); n != len(r.Steps) {
			t.Errorf("%s has %d rows in the steps, want %d", c.Name, n, len(r.Steps))
		}
		if !strings.Contains(page, "</svg> "+c.Name) || !strings.Contains(page, c.Title) {
			t.Errorf("%s is in no legend", c.Name)
		}
	}
	for i, step := range r.Steps {
		for _, want := range []string{fmt.Sprintf("<summary>Step %d: %s", i, step.Event), fmt.Sprintf("<summary>buckets, %d: %s</summary>", i, step.Event)} {
			if !strings.Contains(page, want) {
				t.Errorf("no %q", want)
			}
		}
	}
	pictures := strings.Count(page, `role="img"`)
	if labels := strings.Count(page, `role="img" aria-label="`); labels != pictures || pictures < 2+4+len(r.Steps) {
		t.Errorf("%d pictures, %d with a text", pictures, labels)
	}
	for _, columns := range [][][2]string{glossaryOf(0), glossaryOf(1)} {
		for _, c := range columns {
			if !strings.Contains(page, "<dt>"+c[0]+"</dt>") {
				t.Errorf("%s is not explained", c[0])
			}
		}
	}
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
	if testing.Short() {
		t.Skip("all in one goroutine: nothing to see for the race detector")
	}
	for name, r := range oddSims(t) {
		var b, again bytes.Buffer
		if err := SimulationPicture(&b, r); err != nil {
			t.Fatal(err)
		}
		if err := SimulationPicture(&again, r); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: drawn again, it differs (%v)", name, err)
		}
		text := strings.Replace(b.String(), "http://www.w3.org/2000/svg", "", 1)
		if !strings.HasPrefix(text, `<svg xmlns=""`) || strings.Contains(text, "http") || number.MatchString(text) || strings.Contains(text, "<script") {
			t.Errorf("%s: %.300s", name, text)
		}
		eachElement(t, b.String(), func(string, map[string]string) {})
	}
}
