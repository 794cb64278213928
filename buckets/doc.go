// Package buckets is the hashmask strategy: a bucket is the set of all hashes with
// hash & mask == id, and every node has its quota of buckets, moved as little as can
// be. The token of a key is its hash reversed bit by bit, so that the low bits lead
// and a bucket is one range of the circle.
//
// It owns the strategy's hash, masks and how they split, the balance rules, and the
// table that a client keeps. It does not own hash tags or the circle (package ring),
// nor the transfer of a bucket. It does no I/O, starts no goroutine and logs nothing.
//
// Read [Strategy] and [Hashmask] first; DESIGN.md says why the rules are as they are.
package buckets
