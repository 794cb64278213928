// Package stall lets commits wait while the storage engine cannot keep up with them: while it has too many
// memtables that are not in tables yet, or too many tables at level 0.
//
// Pebble has the same bounds, but lets a commit wait while it holds the lock that all commits need. If tables
// cannot be written, as on a full disk, that wait does not end: the commit keeps its latches, and reads of
// its keys wait with it. So package tuning sets Pebble's bounds out of reach, and commits wait at a [Gate],
// which they leave with an error soon after the store has begun to refuse writes.
//
// Invariant: a commit that waits at a Gate holds no lock that Pebble's flushes and compactions, the cleaner or a
// read of another key need. What writes counts holds the lock of checkpoints, too: a flush that shortens the log
// waits for that lock, the flush of a full memtable does not, and opens the gate.
package stall
