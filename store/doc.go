// Package store keeps keys and values in Pebble, in the order of their tokens.
//
// It owns the layout on disk, the cache of hot values, expiry, the counts of
// keys and bytes, durability, and the order in which concurrent commands see
// one another. It does not own the Redis protocol (package resp) nor the
// question whether this node may answer for a key (package replica).
//
// Read [Store] and [Unit] first: a Unit is what a pipeline of commands works
// on, and commits at once. Then package internal/layout (what lies on disk), commit.go (the
// order of things when a unit commits), wal.go (what each fsync mode promises)
// and cache.go. DESIGN.md in this folder gives the invariants and the reasons.
//
// What moves ranges between stores begins with [Tap], [Copy] and [Receiver]:
// tap.go, copy.go, receive.go, and batch.go for what travels.
package store
