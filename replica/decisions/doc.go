// Package decisions tells what the cluster has decided: the commands of the placement table in words, with their times.
// Who joined, failed or left, which nodes became primaries of whose ranges, what an operator ordered.
package decisions
