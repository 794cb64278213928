// Package recall keeps what was computed from large collections (sorted logs of ranks), so that it
// need not be computed again. It is bounded; what was used least recently goes first.
package recall
