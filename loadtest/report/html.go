package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// PageOptions are what a page says beyond the report.
type PageOptions struct {
	// Title is the heading of a load test's page; empty: one is made of the contestants' names.
	Title string
	// Command makes the same report of a simulation again, as one types it in a shell; empty if it
	// is not known.
	Command string
	// Version is that of the binary that simulated.
	Version string
}

//go:embed page.html
var pageText string

//go:embed page.css
var pageStyle string

var pageTemplate = newPageTemplate(pageText)

// mostPageEvents keeps a page small enough for a phone, whatever the script.
const mostPageEvents = 40

// HTML writes a report as one page that needs nothing else: no script, no font and no
// picture from elsewhere. It takes a few megabytes at most.
func HTML(w io.Writer, r *result.Report, options PageOptions) error {
	if err := pageTemplate.Execute(w, newPage(r, options)); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// A wholePage is what the template shows.
type wholePage struct {
	Style            template.CSS
	Title            string
	Heading, Notes   []string
	LegendText       string
	Legend           []legendEntry
	Summary          Grid
	Overlays         []drawn
	Events           []titledGrid
	EventsNote       string
	Distribution     *drawn
	DistributionGrid Grid
	Clients, Cluster []sides
	Nodes            []sides
	NodeLegend       []legendEntry
	Owners, Backups  []drawn
	Details          []details
	Settings         Grid
	Facts            [][2]string
	Command          string
	RunTerms         [][2]string
	EventTerms       [][2]string
	ChartTerms       [][2]string
}

type legendEntry struct {
	Swatch      template.HTML
	Name, Title string
	Yardstick   bool
}

// drawn is a chart; without a picture nothing is known.
type drawn struct {
	Title   string
	Picture template.HTML
}

type titledGrid struct {
	Title string
	Grid  Grid
	Open  bool // without a click
}

// sides are the charts of a measure, one for each contestant.
type sides struct {
	Title, Help string
	Legend      []legendEntry
	Charts      []drawn
}

// details are the tables of one contestant.
type details struct {
	Name             string
	Shown            string // which round
	Phases, Commands Grid
}

func newPage(r *result.Report, options PageOptions) *wholePage {
	p := &wholePage{
		Style:      template.CSS(baseStyle + pageStyle),
		Title:      Printable(options.Title),
		Heading:    printable(headingLines(r)),
		Notes:      printable(notes(r)),
		LegendText: capital(strings.ReplaceAll(legendText(r), "the best of its row", "the best of each row is marked")),
		Summary:    figuresGrid(r, "", rows(r, nil)),
		Settings:   settingsGrid(r),
		Facts:      facts(r),
		Command:    Printable(r.Command),
	}
	if p.Title == "" {
		p.Title = title(r)
	}
	for i, l := range Looks(names(r)) {
		p.Legend = append(p.Legend, legendEntry{Swatch: swatch(l), Name: shortName(&r.Contestants[i])})
	}
	p.RunTerms, p.EventTerms = terms(runFigures), terms(eventFigures)
	for _, m := range allMeasures() {
		p.ChartTerms = append(p.ChartTerms, [2]string{m.title, m.help})
	}
	if len(r.Contestants) == 0 {
		return p
	}
	t := clockOf(r)
	p.overlays(r, t)
	p.events(r)
	p.distribution(r)
	p.overTime(r, t)
	p.owners(r, t)
	for i := range r.Contestants {
		p.details(&r.Contestants[i])
	}
	return p
}

// title is what was compared.
func title(r *result.Report) string {
	switch len(r.Contestants) {
	case 0:
		return "Load test"
	case 1:
		return "Load test of " + shortName(&r.Contestants[0])
	}
	var all []string
	for i := range r.Contestants {
		all = append(all, Clip(Printable(r.Contestants[i].Name), 30))
	}
	return "Load test: " + Clip(strings.Join(all[:len(all)-1], ", ")+" and "+all[len(all)-1], 200)
}

func allMeasures() []*measure {
	var all []*measure
	for _, list := range [][]measure{clientMeasures, clusterMeasures, nodeMeasures} {
		for i := range list {
			all = append(all, &list[i])
		}
	}
	return all
}

// terms are figures with what they mean.
func terms(figures []figure) [][2]string {
	var all [][2]string
	for i := range figures {
		if f := &figures[i]; !f.hidden {
			all = append(all, [2]string{f.fullName() + " [" + f.key + "]", f.help})
		}
	}
	return all
}

// printable texts have no characters that break a page.
func printable(texts []string) []string {
	for i, text := range texts {
		texts[i] = Printable(oneLine(text))
	}
	return texts
}

// shortName is a contestant's name as far as there is room for it.
func shortName(c *result.Contestant) string { return Clip(Printable(c.Name), 40) }

func swatch(l Look) template.HTML { return template.HTML(Swatch(l).Decorative()) }

// inline is markup that this program has made and escaped.
func inline(p Drawing) drawn { return drawn{p.Title, template.HTML(p.Inline())} }

func (p *wholePage) events(r *result.Report) {
	all := events(r)
	if n := len(all); n > mostPageEvents {
		p.EventsNote = fmt.Sprintf("There were %d events. The first %d are here; JSON and CSV have all.", n, mostPageEvents)
		all = all[:mostPageEvents]
	}
	for _, e := range all {
		p.Events = append(p.Events, titledGrid{Title: capital(e.title(r)), Grid: figuresGrid(r, "", rows(r, &e))})
	}
}

func (p *wholePage) details(c *result.Contestant) {
	run := shown(c)
	if run == nil {
		return
	}
	p.Details = append(p.Details, details{Name: shortName(c), Shown: fmt.Sprintf("round %d of %d", run.Round, len(c.Runs)), Phases: phasesGrid(run), Commands: commandsGrid(run)})
}
