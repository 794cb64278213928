package report

import "io"

// PageOptions are what a page says beyond the report.
type PageOptions struct {
	// Title stands above all; empty: one is made of the contestants' names.
	Title string
}

// HTML writes a report as one page that needs nothing else.
func HTML(w io.Writer, r *Report, options PageOptions) error { return nil }
