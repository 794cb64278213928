package report

import "io"

// HDR writes a log of histograms, one for each contestant, round and phase.
func HDR(w io.Writer, r *Report) error { return nil }
