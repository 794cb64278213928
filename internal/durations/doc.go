// Package durations counts durations in buckets whose ends double, as histograms of Prometheus and of INFO show them.
package durations
