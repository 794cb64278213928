// Package store keeps keys and values in Pebble, in the order of their tokens.
//
// It owns the layout on disk, the cache of hot values, expiry, the counts of
// keys and bytes, durability, and the order in which concurrent commands see
// one another. It does not own the Redis protocol (package resp) nor the
// question whether this node may answer for a key (package replica).
//
// Read [Store] and [Unit] first: a Unit is what a pipeline of commands works on, and commits at
// once. Then commit.go, the order of things when a unit commits, and health.go: when writes are
// refused. The parts that know nothing of units are packages of their own: internal/layout (what
// lies on disk), internal/wal (what each fsync mode promises), internal/cache, internal/latch,
// internal/counts. DESIGN.md in this folder follows a SET and gives the invariants and the reasons.
//
// What moves ranges between stores begins with [Tap] (taps.go, handover.go), [Copy] (copy.go) and
// [Receiver] (receive.go); internal/ops is what travels.
package store
