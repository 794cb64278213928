package show

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"github.com/ringside-kv/ringside/loadtest/report"
	"github.com/ringside-kv/ringside/loadtest/sim"
)

// PageOptions are what a page says beyond the report.
type PageOptions struct {
	// Command makes the same report again, as one writes it in a shell; empty if
	// nobody knows.
	Command string
	// Version is that of the binary.
	Version string
}

//go:embed page.html
var pageText string

var pageTemplate = report.PageTemplate(pageText)

// HTML writes a report as one page that needs nothing else: no script, no font and
// no picture from elsewhere. Its charts are SVG, each with its figures in a table
// below it. It takes a few megabytes at most.
func HTML(w io.Writer, r *sim.Report, options PageOptions) error {
	if err := pageTemplate.Execute(w, newPage(r, options)); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// mostPageSteps keeps a page small enough for a phone, whatever the scenario.
const mostPageSteps = 120

// A wholePage is what the template shows.
type wholePage struct {
	Style              template.CSS
	Title              string
	Settings           []string
	Notes              []string
	Facts              [][2]string
	Command            string
	Legend             []legendEntry
	LeastSwatch        template.HTML
	Summary            report.Grid
	Moved              []drawnChart
	MovedTable         report.Grid
	Balance            []drawnChart
	BalanceTables      []titled
	Load               []drawnChart
	LoadTable          report.Grid
	Buckets            []bucketGrids
	BucketsNote        string
	Steps              []titled
	StepColumns, Lines [][2]string
}

// A legendEntry is a contender with how it looks.
type legendEntry struct {
	Swatch      template.HTML
	Name, Title string
	Yardstick   bool
}

type drawnChart struct {
	Title   string
	Picture template.HTML
}

type titled struct {
	Title string
	Table report.Grid
	Open  bool
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

func newPage(r *sim.Report, options PageOptions) *wholePage {
	p := &wholePage{
		Style:       report.BaseStyle(),
		Title:       "Which strategy? " + report.Plural(r.Settings.Nodes, "node") + " through " + report.Plural(max(0, len(r.Steps)-1), "step"),
		Settings:    settingsLines(r),
		Command:     options.Command,
		LeastSwatch: template.HTML(report.LevelSwatch().Decorative()),
		Facts:       facts(r, options),
	}
	for i, line := range p.Settings {
		p.Settings[i] = report.Printable(line)
	}
	if r.Stopped {
		p.Notes = append(p.Notes, stopped(r))
	}
	if n := len(r.Steps) - 1; n > mostPageSteps {
		p.Notes = append(p.Notes, fmt.Sprintf("There were %d steps. Tables and bars show the first %d of them, curves and sums all; CSV and JSON have everything.", n, mostPageSteps))
	}
	for j, l := range report.Looks(names(r.Contenders)) {
		c := r.Contenders[j]
		p.Legend = append(p.Legend, legendEntry{template.HTML(report.Swatch(l).Decorative()), c.Name, c.Title, c.Yardstick})
	}
	p.Summary = summaryGrid(r)
	p.StepColumns, p.Lines = Glossary()
	if len(r.Steps) == 0 {
		return p
	}
	p.Moved, p.MovedTable = inlined(movedCharts(r)), movedGrid(r)
	p.Balance = inlined(balanceCharts(r))
	for _, m := range measures {
		p.BalanceTables = append(p.BalanceTables, titled{Title: m.title, Table: measureGrid(r, m)})
	}
	steps := loadSteps(r)
	p.Load, p.LoadTable = inlined(loadCharts(r, steps)), loadGrid(r, steps)
	p.Buckets, p.BucketsNote = allBucketGrids(r)
	for i := range min(len(r.Steps), mostPageSteps+1) {
		p.Steps = append(p.Steps, titled{stepTitle(r, i), stepGrid(r, i), len(r.Steps) <= 12})
	}
	return p
}

// inlined charts are markup that this package has made and escaped.
func inlined(charts []report.Drawing) []drawnChart {
	all := make([]drawnChart, len(charts))
	for i, ch := range charts {
		all[i] = drawnChart{ch.Title, template.HTML(ch.Inline())}
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
	return report.Plural(n, word) + " are"
}
