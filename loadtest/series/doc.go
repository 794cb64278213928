// Package series keeps what clients of a load test saw, as it goes by: in windows of time,
// in phases, for each command, and for how long a key could not be used.
//
// It owns histograms, what they cost in memory, and the figures that follow from them, in
// the types of package report. It does not own clocks, connections or what an operation
// means: it is told when each began and ended, and what became of it.
//
// Read [Config] first, then [Recorder.Add] for what goes in, and [Series] for what comes
// out.
package series
