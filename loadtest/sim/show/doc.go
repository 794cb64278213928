// Package show makes a report of a simulation readable: tables for a terminal and
// for Markdown, CSV and JSON for programs, and a page of HTML with charts.
//
// It owns units, columns, what counts as best, colours and charts. It does not own
// the figures: they are those of [sim.Report], and what it derives from them are
// sums, shares and extremes (see [Summary]). It opens no files; everything writes to
// an io.Writer.
//
// Read columns.go first, which names and explains every column, then table.go and
// html.go.
package show
