package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

// SimulationHTML writes a report as one page that needs nothing else: its script, its style and its
// figures are within it, and it sends no request. It takes a few megabytes at most.
func SimulationHTML(w io.Writer, r *sim.Report, options PageOptions) error {
	return newSimPage(r, options).write(w)
}

// SimulationData writes what the page of a report shows, as its script reads it.
func SimulationData(w io.Writer, r *sim.Report, options PageOptions) error {
	if err := json.NewEncoder(w).Encode(newSimPage(r, options)); err != nil {
		return fmt.Errorf("write data of page: %w", err)
	}
	return nil
}

// mostPageSteps keeps a page small enough for a phone, whatever the scenario.
const mostPageSteps = 120

func newSimPage(r *sim.Report, options PageOptions) *page {
	p := &page{
		Title:   "Which strategy? " + Plural(r.Settings.Nodes, "node") + " through " + Plural(max(0, len(r.Steps)-1), "step"),
		Verdict: simVerdict(r),
		Cards:   simCards(r),
		Lines:   printable(settingsLines(r)),
		Notes:   []string{},
		Names:   []pageName{},
		Nodes:   []string{},
		Dials:   options.Dials,
	}
	if r.Stopped {
		p.Notes = append(p.Notes, stopped(r))
	}
	if n := len(r.Steps) - 1; n > mostPageSteps {
		p.Notes = append(p.Notes, fmt.Sprintf("There were %d steps. Tables show the first %d of them, curves and sums all; CSV and JSON have everything.", n, mostPageSteps))
	}
	for j, color := range colors(contenderNames(r.Contenders)) {
		c := r.Contenders[j]
		p.Names = append(p.Names, pageName{Name: c.Name, Title: c.Title, Yardstick: c.Yardstick, Color: color})
	}
	p.Sections = append(p.Sections, section{ID: "summary", Title: "Summary", Text: "All steps together. The best of each line is marked; yardsticks can only be simulated and stand apart.",
		Parts: []pagePart{tablePart("", scenarioGrid("", r, scenarioFigures(r))), {Legend: true}}})
	add := func(s section) {
		if len(s.Parts) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
	if len(r.Steps) > 0 {
		index := simNodes(r, p)
		add(movedSection(r))
		add(balanceSection(r))
		add(loadSection(r))
		add(simOwnersSection(r, index))
		add(bucketsSection(r))
		add(simStepsSection(r))
	}
	settings := section{ID: "settings", Title: "Settings", Parts: []pagePart{{Terms: simFacts(r, options)}}}
	if options.Command != "" {
		settings.Parts = append(settings.Parts, pagePart{Help: "The same again (times apart):", Command: options.Command})
	}
	columns, lines := SimulationGlossary()
	p.Sections = append(p.Sections, settings, section{ID: "glossary", Title: "Glossary", Parts: []pagePart{
		{Title: "Columns of the steps", Fold: "closed", Terms: columns}, {Title: "Lines of the summary", Fold: "closed", Terms: lines},
	}})
	return p
}

// simNodes numbers all nodes in the order in which they came.
func simNodes(r *sim.Report, p *page) map[string]int {
	index := map[string]int{}
	for i := range r.Steps {
		for _, n := range r.Steps[i].Nodes {
			if _, ok := index[n.ID]; !ok {
				index[n.ID] = len(index)
				p.Nodes = append(p.Nodes, Clip(Printable(n.ID), 30))
			}
		}
	}
	return index
}

// contenderNames are those of the contenders.
func contenderNames(contenders []sim.Contender) []string {
	all := make([]string, len(contenders))
	for i, c := range contenders {
		all[i] = c.Name
	}
	return all
}

func simStepsSection(r *sim.Report) section {
	s := section{ID: "steps", Title: "Step by step"}
	fold := "closed"
	if len(r.Steps) <= 12 {
		fold = "open"
	}
	for i := range min(len(r.Steps), mostPageSteps+1) {
		g := stepGrid(r, i)
		s.Parts = append(s.Parts, pagePart{Title: stepTitle(r, i), Fold: fold, Table: &g})
	}
	return s
}

// simVerdict is a simulation in one sentence: what was lost, which contender moved the least for an even
// load, and which had the most even load.
func simVerdict(r *sim.Report) string {
	if len(r.Contenders) == 0 || len(r.Steps) == 0 {
		return "Nothing was simulated."
	}
	parts := []string{"No key was lost"}
	for i, cell := range figureNamed(lists.Scenario, "lost").ofScenario(r) {
		if cell.rank > 0 {
			parts = []string{"Crashes lost keys: " + cell.text + " of " + r.Contenders[i].Name}
			break
		}
	}
	for _, one := range []struct{ key, text string }{
		{"moved/least", "closest to the least possible movement: %s"}, {"keys-max/mean", "most even load, fullest node ÷ mean: %s"},
	} {
		var marked []string
		cells := figureNamed(lists.Scenario, one.key).ofScenario(r)
		for j, best := range bestCells(r.Contenders, cells) {
			if best {
				marked = append(marked, r.Contenders[j].Name+" "+cells[j].text)
			}
		}
		if len(marked) > 0 {
			parts = append(parts, fmt.Sprintf(one.text, strings.Join(marked, ", ")))
		}
	}
	return Printable(strings.Join(parts, "; ")) + "."
}

// simCards are three figures with their range over the steps.
func simCards(r *sim.Report) []card {
	var cards []card
	for _, one := range []struct {
		key, title string
		each       string // the figure of a step that has a range
	}{
		{"lost", "keys lost", ""}, {"moved/least", "moved ÷ least possible", "moved/least"}, {"keys-max/mean", "fullest node ÷ mean", "keys-max/mean"},
	} {
		f := figureNamed(lists.Scenario, one.key)
		c := card{Title: one.title, Help: f.Help + "; in brackets, from the lowest step to the highest", Values: []Cell{}}
		for j, value := range tableRow("", r.Contenders, f.ofScenario(r))[1:] {
			if one.each != "" {
				value.Soft = rangeOf(r, figureNamed(lists.Step, one.each), j)
			}
			c.Values = append(c.Values, value)
		}
		cards = append(cards, c)
	}
	return cards
}

// rangeOf is the range of a figure over the steps; empty if all are alike.
func rangeOf(r *sim.Report, f *figure, j int) string {
	var all []float64
	for i := range r.Steps {
		if f.inStep(r, i, j).ranks {
			x, _ := f.outcome(&r.Steps[i].Outcomes[j])
			all = append(all, x)
		}
	}
	if len(all) == 0 || Ratio(slices.Min(all)) == Ratio(slices.Max(all)) {
		return ""
	}
	return "(" + Ratio(slices.Min(all)) + ".." + Ratio(slices.Max(all)) + ")"
}
