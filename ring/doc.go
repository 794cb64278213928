// Package ring holds the words in which every placement strategy speaks: a key
// lies at a [Token] on the circle of 0..2³²−1, and everything else in Ringside
// (the store, SCAN, replication, reports) sees only tokens and ranges of them.
//
// It owns the circle, hash tags and the slots of Redis Cluster. It does not own
// the strategies' own hashes: those are in package buckets and in ring/ketama
// and ring/vnode. It does no I/O, starts no goroutine and logs nothing.
//
// Read [Token] and [TokenFunc] first.
package ring
