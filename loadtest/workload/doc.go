// Package workload says what the clients of a load test ask for, and when: which keys, which
// commands, how long values are, and at what rate.
//
// It owns the mix, the choice of keys, values that describe themselves, and schedules. It
// does not own connections, clocks or what became of a request, and starts no goroutine.
// Everything follows from the seed: the same [Config] has each client do the same
// operations in the same order, however fast anybody is.
//
// Read [Config] first, then [Client].
package workload
