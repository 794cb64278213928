// Package strategy makes a [ring.Strategy] of settings: it is the one place that
// knows all strategies by name, what can be set for each, and how to say so in text.
//
// It does not own the strategies themselves, which are packages buckets,
// ring/ketama, ring/vnode and ring/cells. It does no I/O, starts no goroutine and logs nothing.
//
// Read [Config] first, then [Parse].
package strategy
