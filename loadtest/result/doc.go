// Package result holds the figures of a load test.
//
// [Report] is the whole result, as `--json` writes it. A [Series] collects measurements of clients
// during a run: in windows, in phases, by command, and the time for which a key was unusable. The
// package owns histograms and their memory. It does not own clocks or connections: the caller
// passes when an operation began and ended, and its outcome.
//
// Read [Report] first, then [Recorder.Add] for the input and [Series] for the output.
package result
