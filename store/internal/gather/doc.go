// Package gather has Pebble take the changes of many commits at once, in the order of keys.
//
// A memtable searches a place for each entry, and the members of a large collection come in any order:
// that was a third of the cost of ZADD and SADD. An entry that follows the one before closely is found
// near it. So a [DB] keeps small batches in memory, up to about 8,000 changes, and a goroutine writes
// them to Pebble sorted, each key once. Read [DB] first.
//
// Invariants:
//
//   - The log has each change before it is gathered, and no segment of the log is removed before what was
//     gathered by then has been written: AsyncFlush writes it first. So a crash loses nothing.
//   - A reader sees all that was gathered before. Get looks there itself, and never waits for Pebble.
//     NewIter and NewSnapshot have it written first, NewIter only where a key within its bounds may have
//     been gathered.
//   - A batch is written as a whole: an iterator has all of its changes or none.
//   - Batches reach Pebble in their order: what is not gathered, as a deletion of a range or a large batch, has
//     all written first that was gathered before. So no reader sees a later commit without an earlier one, and
//     the changes of a key come in their order. That two goroutines do not change one key at a time is the
//     caller's affair, as with Pebble.
//   - What could not be written stays, is found by Get, and is tried again. Once Pebble has stopped, what the log
//     has already is gathered without a bound: a commit is never seen in part.
package gather
