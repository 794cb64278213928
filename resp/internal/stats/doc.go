// Package stats counts what a server does: [Stats] are its counters, [Command] those of one
// command, with a histogram of durations. A connection collects counts in [Pending] first.
//
// The counters are atomic. INFO, CONFIG RESETSTAT and the metrics read them; the server adds to them.
package stats
