// Package ketama is the continuum strategy, in agreement with libketama and
// twemproxy: keys are hashed with MD5.
//
// It owns the strategy's hash. It does not own hash tags or the circle (package
// ring). It does no I/O, starts no goroutine and logs nothing.
//
// Read [Token] first.
package ketama
