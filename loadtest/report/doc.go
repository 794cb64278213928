// Package report is what a load test found: its figures, and every form in which people
// and programs read them.
//
// It owns the figures' names and units, what is derived from them, which of several is
// the best, assertions, and the forms: a table for a terminal, JSON, CSV, HDR logs and a
// page. It does not own where figures come from: package compare fills a Report. It opens
// no files; everything writes to an io.Writer.
//
// Read Report first, from top to bottom, then figures.go, which names and explains every
// figure, and summary.go, which makes one of many rounds. FORMAT.md explains the JSON form.
package report
