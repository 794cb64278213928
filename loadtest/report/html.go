package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/loadtest/result"
)

// mostPageEvents keeps a page small enough for a phone, whatever the script.
const mostPageEvents = 40

// HTML writes a report as one page that needs nothing else: its script, its style and its figures
// are within it, and it sends no request. It takes a few megabytes at most.
func HTML(w io.Writer, r *result.Report, options PageOptions) error {
	return newPage(r, options).write(w)
}

func newPage(r *result.Report, options PageOptions) *page {
	p := &page{
		Title:   Printable(options.Title),
		Verdict: verdict(r),
		Cards:   cards(r),
		Lines:   printable(headingLines(r)),
		Notes:   printable(notes(r)),
		Names:   []pageName{},
	}
	if p.Title == "" {
		p.Title = title(r)
	}
	for i, color := range colors(names(r)) {
		p.Names = append(p.Names, pageName{Name: shortName(&r.Contestants[i]), Color: color})
	}
	if len(r.Contestants) > 0 {
		p.Nodes = []string{}
		for _, name := range nodeNames(r) {
			p.Nodes = append(p.Nodes, Clip(Printable(name), 30))
		}
		t := newTimeCharts(r)
		p.add(t.summary(), eventsSection(r), distributionSection(r), nodeLoadSection(r), ownersSection(r),
			t.section("clients", slices.Concat(lists().ClientCharts, lists().ClusterCharts)), t.section("nodes", lists().NodeCharts), stepsSection(r))
	}
	p.add(settingsSection(r), glossarySection())
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
	all := names(r)
	for i := range all {
		all[i] = Clip(Printable(all[i]), 30)
	}
	return "Load test: " + Clip(strings.Join(all[:len(all)-1], ", ")+" and "+all[len(all)-1], 200)
}

// shortName is a contestant's name as far as there is room for it.
func shortName(c *result.Contestant) string { return Clip(Printable(c.Name), 40) }

func names(r *result.Report) []string {
	all := make([]string, len(r.Contestants))
	for i := range r.Contestants {
		all[i] = r.Contestants[i].Name
	}
	return all
}

// pageEvents are the events that a page has room for.
func pageEvents(r *result.Report) []eventKey {
	all := events(r)
	return all[:min(len(all), mostPageEvents)]
}

func eventsSection(r *result.Report) section {
	s := loadTestSection("events")
	if n := len(events(r)); n > mostPageEvents {
		s.Text += fmt.Sprintf(" There were %d events. The first %d are here; JSON and CSV have all.", n, mostPageEvents)
	}
	for _, e := range pageEvents(r) {
		s.Parts = append(s.Parts, tablePart(capital(e.title(r)), figuresGrid(r, "", rows(r, &e))))
	}
	return s
}

// stepsSection has the steps of the script of each contestant.
func stepsSection(r *result.Report) section {
	s := loadTestSection("details")
	for i, run := range shownRuns(r) {
		c := &r.Contestants[i]
		s.Parts = append(s.Parts, tablePart(fmt.Sprintf("%s, round %d of %d", shortName(c), run.Round, len(c.Runs)), phasesGrid(run)))
		if g := commandsGrid(run); len(g.Rows) > 0 {
			s.Parts = append(s.Parts, tablePart("", g))
		}
	}
	return s
}

func settingsSection(r *result.Report) section {
	s := loadTestSection("settings", pagePart{Terms: facts(r)})
	if g := settingsGrid(r); len(g.Rows) > 0 {
		s.Parts = append(s.Parts, foldedTable("All settings", g))
	}
	s.Parts = append(s.Parts, commandPart(Printable(r.Command))...)
	return s
}

func glossarySection() section {
	var charts [][2]string
	for _, m := range slices.Concat(lists().ClientCharts, lists().ClusterCharts, lists().NodeCharts) {
		charts = append(charts, [2]string{m.Title, m.Help})
	}
	return loadTestSection("glossary",
		pagePart{Title: "Figures of a whole run", Fold: "closed", Terms: terms(lists().Run)},
		pagePart{Title: "Figures of an event", Fold: "closed", Terms: terms(lists().Event)},
		pagePart{Title: "Charts", Fold: "closed", Terms: charts})
}

// terms are figures with what they mean.
func terms(figures []figure) [][2]string {
	figures = slices.DeleteFunc(slices.Clone(figures), func(f figure) bool { return f.Hidden })
	return explained(figures, func(f *figure) string { return f.fullName() + " [" + f.Key + "]" })
}
