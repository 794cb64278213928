package report

import "io"

// TableOptions say how a table is laid out.
type TableOptions struct {
	// Width is that of the terminal in cells; below 80 it counts as 80.
	Width int
	// Color marks the best by a colour too.
	Color bool
}

// Table writes a report for a terminal: what was asked for, then each figure with all
// contestants side by side, and what else a reader must know.
func Table(w io.Writer, r *Report, options TableOptions) error { return nil }
