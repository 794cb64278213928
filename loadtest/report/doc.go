// Package report renders results, of load tests ([Table], [HTML], …) and of simulations
// ([SimulationTable], [SimulationHTML], …): as a table for a terminal, a page, Markdown, a picture,
// JSON and CSV; of load tests also as a log of HdrHistogram. It checks assertions and draws the
// progress of a run.
//
// It owns columns, which value counts as best, and what charts show. It does not own the figures:
// they are those of result.Report and sim.Report. It opens no files; everything is written to an
// io.Writer.
//
// Both reports share the list of figures (figures.json, read by figures.go), the format of numbers
// (unit.go, number.go), tables (tables.go, laid out for terminals by terminal.go), pictures (picture.go)
// and pages: Go makes a page's data (page.go, sections.json), and one script shows it (page.js,
// page_circle.js), with the charts of uPlot. Read figures.go first, and then summary.go, which summarizes
// rounds. Files of simulations begin with sim_: read sim_figures.go first. FORMAT.md describes the JSON
// form of a load test.
package report
