// Package vnode is the virtual-node strategy: keys and nodes lie on a signed
// murmur3 ring, where each node has a few points of its own and, where an operator
// wants to take load off a neighbour, points that were picked by hand.
//
// It owns the strategy's hash and a node's points. It does not own hash tags, the
// circle or what is done with points once they are there (package ring). It does no
// I/O, starts no goroutine and logs nothing.
//
// Read [Strategy] first, then [Pins].
package vnode
