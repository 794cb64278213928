package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/ringside-kv/ringside/loadtest/sim"
)

//go:embed sim_page.html
var simPageText string

var simPageTemplate = newPageTemplate(simPageText)

// SimulationHTML writes a report as one page that needs nothing else: no script, no font and
// no picture from elsewhere. Its charts are SVG, each with its figures in a table
// below it. It takes a few megabytes at most.
func SimulationHTML(w io.Writer, r *sim.Report, options PageOptions) error {
	if err := simPageTemplate.Execute(w, newSimPage(r, options)); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// mostPageSteps keeps a page small enough for a phone, whatever the scenario.
const mostPageSteps = 120

// A simPage is what the template shows.
type simPage struct {
	Style              template.CSS
	Title              string
	Settings           []string
	Notes              []string
	Facts              [][2]string
	Command            string
	Legend             []legendEntry
	LeastSwatch        template.HTML
	Summary            Grid
	Moved              []drawn
	MovedTable         Grid
	Balance            []drawn
	BalanceTables      []titledGrid
	Load               []drawn
	LoadTable          Grid
	Buckets            []bucketGrids
	BucketsNote        string
	Steps              []titledGrid
	StepColumns, Lines [][2]string
}

// bucketGrids are the grids of one contender after one step.
type bucketGrids struct {
	Title string
	Nodes []bucketNode
	Open  bool
	First bool // nothing can have changed
}

type bucketNode struct {
	nodeGrid
	Picture template.HTML
	Total   int
}

func newSimPage(r *sim.Report, options PageOptions) *simPage {
	p := &simPage{
		Style:       template.CSS(baseStyle),
		Title:       "Which strategy? " + Plural(r.Settings.Nodes, "node") + " through " + Plural(max(0, len(r.Steps)-1), "step"),
		Settings:    settingsLines(r),
		Command:     options.Command,
		LeastSwatch: template.HTML(LevelSwatch().Decorative()),
		Facts:       simFacts(r, options),
	}
	for i, line := range p.Settings {
		p.Settings[i] = Printable(line)
	}
	if r.Stopped {
		p.Notes = append(p.Notes, stopped(r))
	}
	if n := len(r.Steps) - 1; n > mostPageSteps {
		p.Notes = append(p.Notes, fmt.Sprintf("There were %d steps. Tables and bars show the first %d of them, curves and sums all; CSV and JSON have everything.", n, mostPageSteps))
	}
	for j, l := range Looks(contenderNames(r.Contenders)) {
		c := r.Contenders[j]
		p.Legend = append(p.Legend, legendEntry{swatch(l), c.Name, c.Title, c.Yardstick})
	}
	p.Summary = summaryGrid(r)
	p.StepColumns, p.Lines = SimulationGlossary()
	if len(r.Steps) == 0 {
		return p
	}
	p.Moved, p.MovedTable = inlineAll(movedCharts(r)), movedGrid(r)
	p.Balance = inlineAll(balanceCharts(r))
	for _, m := range balanceMeasures {
		p.BalanceTables = append(p.BalanceTables, titledGrid{Title: m.title, Grid: measureGrid(r, m)})
	}
	steps := loadSteps(r)
	p.Load, p.LoadTable = inlineAll(loadCharts(r, steps)), loadGrid(r, steps)
	p.Buckets, p.BucketsNote = allBucketGrids(r)
	for i := range min(len(r.Steps), mostPageSteps+1) {
		p.Steps = append(p.Steps, titledGrid{stepTitle(r, i), stepGrid(r, i), len(r.Steps) <= 12})
	}
	return p
}

func inlineAll(charts []Drawing) []drawn {
	all := make([]drawn, len(charts))
	for i, c := range charts {
		all[i] = inline(c)
	}
	return all
}

// allBucketGrids are the grids of all steps that have one, within bounds. The note
// says what was left out.
func allBucketGrids(r *sim.Report) (all []bucketGrids, note string) {
	bytes, left, boxes := 0, 0, 0
	for j, c := range r.Contenders {
		for i := range r.Steps {
			step := &r.Steps[i]
			g := step.Outcomes[j].Grid
			if g == nil {
				continue
			}
			if len(step.Nodes) > mostGridNodes || bytes > mostGridBytes || i > mostPageSteps {
				left++
				continue
			}
			var before *sim.Grid
			var beforeStep *sim.Step
			if i > 0 {
				beforeStep = &r.Steps[i-1]
				before = beforeStep.Outcomes[j].Grid
			}
			grids := bucketGrids{Title: fmt.Sprintf("%s, %d: %s", c.Name, i, step.Event), First: before == nil}
			boxes += len(step.Nodes)
			grids.Open = len(all) < 2 || boxes <= 60
			for _, ng := range gridOf(step, beforeStep, g, before) {
				bytes += len(ng.drawn)
				grids.Nodes = append(grids.Nodes, bucketNode{ng, template.HTML(ng.drawn), ng.Primaries + ng.Backups})
			}
			all = append(all, grids)
		}
	}
	if left > 0 {
		note = fmt.Sprintf("%s left out: only steps with up to %d nodes are drawn, as far as the page stays small.", pluralAre(left, "grid"), mostGridNodes)
	}
	return all, note
}

func pluralAre(n int, word string) string {
	if n == 1 {
		return "1 " + word + " is"
	}
	return Plural(n, word) + " are"
}
