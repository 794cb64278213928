// Package admin serves HTTP beside the RESP port: metrics for Prometheus, health
// for whoever supervises the process, and profiles for its developers.
//
// It owns the registry behind /metrics ([Metrics], which hands out the tally.Scope
// that the rest of Ringside reports to) and what probes are told ([Health]). It
// knows neither commands nor data; it says what it needs of them in small
// interfaces. Begin with [Server].
package admin
