package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"
	"sync"

	"github.com/ringside-kv/ringside/internal/uplot"
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
	// Dials are the settings of a simulation that the page can change. The page fetches data from
	// where it is from, with their values as the query.
	Dials []Dial
}

// A Dial is a setting that a page can change.
type Dial struct {
	Name  string `json:"name"` // in the query
	Label string `json:"label"`
	Value string `json:"value"`
	// Kind is range, choice, set (of choices, with commas) or text (with choices as proposals).
	Kind    string   `json:"kind"`
	Min     float64  `json:"min,omitempty"`
	Max     float64  `json:"max,omitempty"`
	Step    float64  `json:"step,omitempty"`
	Choices []string `json:"choices,omitempty"`
}

// The parts of a page. The charts are drawn by uPlot.
var (
	//go:embed page.html
	pageText string
	//go:embed page.css
	pageStyle string
	//go:embed page.js
	pageScript string
	//go:embed page_circle.js
	circleScript string
	//go:embed sections.json
	sectionsText []byte
)

// sections are the titles and texts of the sections of both pages.
var sections = sync.OnceValue(func() (all struct{ LoadTest, Simulation []section }) {
	if err := json.Unmarshal(sectionsText, &all); err != nil {
		panic("report: sections.json: " + err.Error())
	}
	return all
})

// sectionNamed is a section of a list with its parts.
func sectionNamed(list []section, id string, parts ...pagePart) section {
	for _, s := range list {
		if s.ID == id {
			s.Parts = parts
			return s
		}
	}
	panic("report: no section " + id)
}

// loadTestSection is a section of the page of a load test.
func loadTestSection(id string, parts ...pagePart) section {
	return sectionNamed(sections().LoadTest, id, parts...)
}

// simSection is a section of the page of a simulation.
func simSection(id string, parts ...pagePart) section {
	return sectionNamed(sections().Simulation, id, parts...)
}

// A page is all that the script of a page shows, for reports of both kinds. The script reads it
// from JSON.
type page struct {
	Title    string     `json:"title"`
	Verdict  string     `json:"verdict"` // one sentence
	Cards    []card     `json:"cards"`
	Lines    []string   `json:"lines"` // what was asked for
	Notes    []string   `json:"notes"`
	Names    []pageName `json:"names"` // contestants
	Nodes    []string   `json:"nodes"`
	Sections []section  `json:"sections"`
	Dials    []Dial     `json:"dials,omitempty"`
}

// A pageName is a contestant with the number of its colour.
type pageName struct {
	Name      string `json:"name"`
	Title     string `json:"title,omitempty"`
	Yardstick bool   `json:"yardstick,omitempty"`
	Color     int    `json:"color"`
}

// A card is one of the figures at the top, of each contestant.
type card struct {
	Title  string `json:"title"`
	Help   string `json:"help"`
	Values []Cell `json:"values"`
}

// A section is a part of the page that its navigation names.
type section struct {
	ID    string     `json:"id"`
	Title string     `json:"title"`
	Text  string     `json:"text,omitempty"`
	Parts []pagePart `json:"parts"`
}

// A pagePart of a section is a table, a chart, bars, circles, grids, terms or a command.
type pagePart struct {
	Title   string       `json:"title,omitempty"`
	Help    string       `json:"help,omitempty"`
	Fold    string       `json:"fold,omitempty"` // open or closed: the reader can fold it
	Table   *Grid        `json:"table,omitempty"`
	Chart   *chart       `json:"chart,omitempty"`
	Bars    *bars        `json:"bars,omitempty"`
	Circles *circles     `json:"circles,omitempty"`
	Terms   [][2]string  `json:"terms,omitempty"`
	Command string       `json:"command,omitempty"`
	Legend  bool         `json:"legend,omitempty"` // of the contestants, with their titles
	Grids   *bucketGrids `json:"grids,omitempty"`
}

func tablePart(title string, g Grid) pagePart { return pagePart{Title: title, Table: &g} }

// foldedTable is closed until the reader opens it.
func foldedTable(title string, g Grid) pagePart {
	return pagePart{Title: title, Fold: "closed", Table: &g}
}

// commandPart shows the command that makes a report again; none if it is not known.
func commandPart(command string) []pagePart {
	if command == "" {
		return nil
	}
	return []pagePart{{Help: "The same again (times apart):", Command: command}}
}

// add adds the sections that have any part.
func (p *page) add(sections ...section) {
	for _, s := range sections {
		if len(s.Parts) > 0 {
			p.Sections = append(p.Sections, s)
		}
	}
}

// write writes the page with everything that it needs. Its policy forbids all requests, and all
// scripts but its own. A page with dials may fetch from where it is from.
func (p *page) write(w io.Writer) error {
	data, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	script := uplot.Script + "\n" + pageScript + "\n" + circleScript
	sum := sha256.Sum256([]byte(script))
	policy := "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if len(p.Dials) > 0 {
		policy += "; connect-src 'self'"
	}
	// No html/template: it calls methods by name, so that the linker would keep every method of every
	// type in the binary. JSON has no < and > within texts.
	fill := strings.NewReplacer(
		"{{.Title}}", html.EscapeString(p.Title), "{{.Verdict}}", html.EscapeString(p.Verdict), "{{.Policy}}", html.EscapeString(policy),
		"{{.Style}}", uplot.Style+pageStyle, "{{.Data}}", string(data), "{{.Script}}", script,
	)
	if _, err := fill.WriteString(w, pageText); err != nil {
		return fmt.Errorf("write page: %w", err)
	}
	return nil
}

// printable texts have no characters that break a page.
func printable(texts []string) []string {
	for i, text := range texts {
		texts[i] = Printable(oneLine(text))
	}
	return texts
}

// colors are the numbers of the colours of contestants. A known strategy has its own, unless
// another of its kind comes before it.
func colors(names []string) []int {
	taken := map[int]bool{}
	all := make([]int, len(names))
	for i, name := range names {
		all[i] = -1
		kind, _, _ := strings.Cut(name, ":")
		if own, ok := ownColors[kind]; ok && !taken[own] {
			all[i], taken[own] = own, true
		}
	}
	next := 0
	for i := range all {
		for all[i] < 0 {
			if !taken[next] {
				all[i], taken[next] = next, true
			}
			next++
		}
	}
	return all
}

var ownColors = map[string]int{
	"buckets": 0, "ketama": 1, "vnode": 2, "maglev": 3, "multiprobe": 4, "rendezvous": 5, "lrh": 6, "bounded": 7,
	"jump": 8, "anchor": 9, "memento": 10, "mod": 11,
}
