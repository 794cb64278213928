package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
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
	p.add(simSection("summary", tablePart("", scenarioGrid("", r, scenarioFigures(r))), pagePart{Legend: true}))
	if len(r.Steps) > 0 {
		index := simNodes(r, p)
		p.add(movedSection(r), balanceSection(r), loadSection(r), simOwnersSection(r, index), bucketsSection(r), simStepsSection(r))
	}
	columns, lines := SimulationGlossary()
	p.add(simSection("settings", append([]pagePart{{Terms: simFacts(r, options)}}, commandPart(options.Command)...)...),
		simSection("glossary", pagePart{Title: "Columns of the steps", Fold: "closed", Terms: columns},
			pagePart{Title: "Lines of the summary", Fold: "closed", Terms: lines}))
	return p
}

// simNodes numbers all nodes in the order in which they came, and names them on the page.
func simNodes(r *sim.Report, p *page) map[string]int {
	index := map[string]int{}
	for i := range r.Steps {
		for _, id := range nodeIDs(&r.Steps[i]) {
			if _, ok := index[id]; !ok {
				index[id] = len(index)
				p.Nodes = append(p.Nodes, Clip(Printable(id), 30))
			}
		}
	}
	return index
}

func nodeIDs(step *sim.Step) []string {
	all := make([]string, len(step.Nodes))
	for i, n := range step.Nodes {
		all[i] = n.ID
	}
	return all
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
	s := simSection("steps")
	fold := "closed"
	if len(r.Steps) <= 12 {
		fold = "open"
	}
	for i := range min(len(r.Steps), mostPageSteps+1) {
		g := stepGrid(r, i, func(*figure) bool { return true })
		for k, head := range g.Head {
			g.Head[k] = oneLine(head)
		}
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
	for j, cell := range figureNamed(lists().Scenario, "lost").ofScenario(r) {
		if cell.Text != "0" {
			parts = []string{"Crashes lost keys: " + cell.Text + " of " + r.Contenders[j].Name}
			break
		}
	}
	for _, one := range []struct{ key, text string }{
		{"moved/least", "closest to the least possible movement: "}, {"keys-max/mean", "most even load, fullest node ÷ mean: "},
	} {
		var marked []string
		for j, cell := range figureNamed(lists().Scenario, one.key).ofScenario(r) {
			if cell.Best {
				marked = append(marked, r.Contenders[j].Name+" "+cell.Text)
			}
		}
		if len(marked) > 0 {
			parts = append(parts, one.text+strings.Join(marked, ", "))
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
		f := figureNamed(lists().Scenario, one.key)
		c := card{Title: one.title, Help: f.Help + "; in brackets, from the lowest step to the highest", Values: f.ofScenario(r)}
		for j := range c.Values {
			if one.each != "" {
				c.Values[j].Soft = rangeOf(r, figureNamed(lists().Step, one.each), j)
			}
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

func simFacts(r *sim.Report, options PageOptions) [][2]string {
	s := r.Settings
	keys := Count(s.Keys) + ", made up"
	if s.KeyFile != "" {
		keys = Count(s.Keys) + ", from " + s.KeyFile
	}
	all := [][2]string{
		{"Scenario", s.Scenario},
		{"Order", s.Order},
		{"Seed", strconv.FormatUint(s.Seed, 10)},
		{"Nodes at the start", Count(s.Nodes)},
		{"Backups", backups(s)},
		{"Keys", keys},
		{"Bytes of keys and values", Size(s.Bytes)},
		{"Hash", s.Hash},
		{"Zipf requests", "exponent " + Plain(s.ZipfTheta)},
		{"Hotspot requests", fmt.Sprintf("%s %% of requests go to %s %% of the keys", Percent(s.HotShare), Percent(s.HotKeys))},
		{"Machine", strings.Join(nonEmpty(s.Machine, s.Go), ", ")},
		{"Ringside", options.Version},
		{"Took", Duration(r.Took)},
	}
	return knownFacts(all)
}

// contenderHeads names the contenders above their columns.
func contenderHeads(first string, contenders []sim.Contender) []string {
	all := []string{first}
	for _, c := range contenders {
		name := c.Name
		if c.Yardstick {
			name = "(" + name + ")"
		}
		all = append(all, name)
	}
	return all
}

// scenarioGrid has a row for each figure of all steps.
func scenarioGrid(first string, r *sim.Report, figures []figure) Grid {
	t := Grid{Head: contenderHeads(first, r.Contenders)}
	for i := range figures {
		t.Rows = append(t.Rows, append(textRow(figures[i].Name), figures[i].ofScenario(r)...))
	}
	return t
}

// byStep is a table with a row for each step and a column for each contender.
func byStep(r *sim.Report, from int, cells func(i int) []Cell) Grid {
	t := Grid{Head: contenderHeads("step", r.Contenders)}
	for i := from; i < min(len(r.Steps), mostPageSteps+1); i++ {
		t.Rows = append(t.Rows, append(textRow(stepName(r, i)), cells(i)...))
	}
	return t
}

func stepName(r *sim.Report, i int) string {
	return fmt.Sprintf("%d: %s", i, Clip(Printable(r.Steps[i].Event), 60))
}

// movedGrid has the least possible as its first figure, then what moved in percent, and how often the
// least that is. The best is nearest to the least.
func movedGrid(r *sim.Report) Grid {
	t := byStep(r, 1, func(i int) []Cell {
		return cellsOfAll(r, func(j int) simCell {
			ratio, text := r.Steps[i].Outcomes[j].Ratio, percentage.text(movedShare(r, i, j))
			if r.Steps[i].LeastOf(j).Keys > 0 {
				text += " (" + Ratio(ratio) + " ×)"
			}
			return ranked(text, one.off(ratio))
		})
	})
	t.Head = slices.Insert(t.Head, 1, "least possible")
	for k := range t.Rows {
		least := Cell{Text: percentage.text(leastShare(r, k+1))}
		if len(r.Steps[k+1].LeastEach) > 0 {
			least.Text = None
		}
		t.Rows[k] = slices.Insert(t.Rows[k], 1, least)
	}
	return t
}

// loadGrid has a row for each step and contender.
func loadGrid(r *sim.Report, steps []int) Grid {
	t := Grid{Head: []string{"step", "strategy", "emptiest", "a tenth have less", "half have less", "a tenth have more", "fullest"}}
	for _, i := range steps {
		for j, c := range r.Contenders {
			row := []Cell{{Text: stepName(r, i)}, {Text: c.Name, Yardstick: c.Yardstick}}
			for _, q := range quantiles(loads(&r.Steps[i], j)) {
				row = append(row, Cell{Text: Ratio(q), Yardstick: c.Yardstick})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// stepGrid has the columns of a step that are picked, and a row for each contender.
func stepGrid(r *sim.Report, i int, picked func(*figure) bool) Grid {
	t := Grid{Head: []string{""}, Rows: [][]Cell{}}
	for _, c := range r.Contenders {
		t.Rows = append(t.Rows, []Cell{{Text: c.Name, Yardstick: c.Yardstick}})
	}
	for k := range lists().Step {
		f := &lists().Step[k]
		if i == 0 && !f.Start || !picked(f) {
			continue
		}
		t.Head = append(t.Head, f.Name)
		for j, cell := range f.ofStep(r, i) {
			t.Rows[j] = append(t.Rows[j], cell)
		}
	}
	return t
}
