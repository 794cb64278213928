// Package ketama is the continuum strategy, in agreement with libketama and
// twemproxy: keys and points are hashed with MD5, and a key belongs to the first
// point at or after its hash.
//
// It owns the strategy's hash and the arithmetic of how many points a server has
// under either [Rule]. It does not own hash tags, the circle or what is done with
// points once they are there (package ring). It does no I/O, starts no goroutine and
// logs nothing.
//
// Read [Strategy] first, then [Rule].
package ketama
