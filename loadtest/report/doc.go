// Package report renders the result of a load test: as a table, a page, Markdown, a picture, JSON,
// CSV and a log of HdrHistogram. It also checks assertions and draws the progress of a run.
//
// figures.go lists the figures; tables, pages and assertions follow that list. summary.go
// summarizes rounds. The format of numbers (number.go), charts (chart.go) and the style of pages
// (page.go) are the same for simulations, which package show renders. FORMAT.md describes the JSON
// form.
//
// Read [Table] and [HTML] first.
package report
