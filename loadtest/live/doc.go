// Package live serves a simulation as a page with sliders. Each change starts another simulation.
//
// It owns the handler: which clients may ask, how many simulations run at a time, and what ends one. It does
// not own the settings, which its user reads from a query, nor the page, which is that of package
// report. Read handler.go.
package live
