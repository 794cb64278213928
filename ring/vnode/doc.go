// Package vnode is the virtual-node strategy: keys and nodes lie on a signed
// murmur3 ring.
//
// It owns the strategy's hash. It does not own hash tags or the circle (package
// ring). It does no I/O, starts no goroutine and logs nothing.
//
// Read [Token] first.
package vnode
