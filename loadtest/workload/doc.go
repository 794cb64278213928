// Package workload generates the operations of load test clients: which command, which key, which
// value, and when.
//
// It owns the flags' small languages ([ParseMix], [ParseChoice], [ParseSizes], [ParseTTL],
// [ParseRate]) and the words and columns that other texts of a load test are parsed with ([Parts],
// [Word]). A value names its write ([Stamp]), so that a reader can tell which write it is from. The
// package does not own connections, and the clock is a parameter.
//
// Read [Config] first, then [Client].
package workload
