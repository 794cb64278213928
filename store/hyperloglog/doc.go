// Package hyperloglog counts distinct elements approximately, in the format in which Redis
// keeps such a count in a string.
//
// It owns the two forms of a sketch, sparse and dense, the hash of an element and the
// estimate; it does not know where a sketch is kept. Read [Sketch] first. Sketches that
// both write have the same bytes, but for one: Redis notes an estimate in the sketch when
// it is asked for it, and Ringside, which does not write when it reads, uses such a note
// and makes none.
//
// Nothing here may be used by several goroutines at once.
package hyperloglog
