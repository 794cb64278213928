// Package show makes a report of a simulation readable: tables for a terminal and
// for Markdown, CSV and JSON for programs, and a page of HTML with charts.
//
// It owns columns, what counts as best and what the charts show. It does not own the
// figures: they are those of [sim.Report], and what it derives from them are sums,
// shares and extremes (see [Summary]). Numbers, charts and pages look as package report
// formats them. It opens no files; everything writes to an io.Writer.
//
// Read columns.go first, which names and explains every column, then table.go and
// html.go.
package show
