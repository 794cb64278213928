package main

import (
	"encoding/json"
	"io"
)

// A report is all that one run has found, as --json writes it.
type report struct {
	Machine  machine         `json:"machine"`
	Load     string          `json:"load"`
	Quick    bool            `json:"quick"`
	Rounds   int             `json:"rounds"`
	Clients  int             `json:"clients"`
	Keys     int             `json:"keys"`
	Pairings []pairingResult `json:"pairings"`
	// Forward is what --forward measures instead of the pairings.
	Forward *forwardResult `json:"forward,omitempty"`
	// Large is what --large measures instead.
	Large *largeResult `json:"large,omitempty"`
}

func writeJSON(w io.Writer, rep report) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rep)
}
