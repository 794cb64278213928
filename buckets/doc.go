// Package buckets is the hashmask strategy: a bucket is the set of all hashes
// with hash & mask == id. Its token is the hash reversed bit by bit, so that the
// low bits lead and a bucket is one range of the circle.
//
// It owns the strategy's hash. It does not own hash tags or the circle (package
// ring). It does no I/O, starts no goroutine and logs nothing.
//
// Read [Token] first.
package buckets
