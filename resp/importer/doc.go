// Package importer takes the keys of Redis, Valkey and their like over into a cluster of Ringside.
//
// It owns the way of a key from a source to the target: which keys are taken, batches, parallel writes,
// attempts, counts, the list of what could not be taken, and what an import remembers. It does not own RDB
// files (package rdbfile), routing (package client) nor flags.
//
// Read [Load] first, which writes an RDB file, then loader.go, which writes in parallel, and parts.go for
// values that are too large for one command. [Follow] is for a source whose clients keep writing: follow.go
// has its phases, stream.go reads the source's stream, tracker.go knows which keys have changed, and copier.go
// reads those again.
//
// # Why a write may be repeated
//
// The target may fail over while keys are written, and then nobody can say whether a write was executed. All
// writes of this package can therefore be executed twice: whole values are written by RESTORE REPLACE,
// additions to sets, hashes and sorted sets are the same twice, and before RPUSH is repeated, the length of
// the list shows if it was executed.
//
// # Why the commands of the stream are not executed
//
// An import that is killed must resume so that the data is the same as if it had not been. The source can send
// its stream again from an offset, so some commands come twice; INCR, LPUSH and XADD must not be executed twice.
// Two ways lead out. One stores the offset in the target together with the changes. That needs a transaction
// over the key and the offset, which lie at different nodes, or an offset beside each key.
//
// This package goes the other way. A command in the stream only says which keys change. Each of these is then
// read from the source by DUMP and written to the target as a whole. So nothing depends on what a command
// means, commands of later versions and of modules included, and this holds:
//
//	(1) When a key has been touched at an offset, it is read after that.
//	(2) So what the target gets is the value at that offset, or a later one.
//	(3) If it is a later one, the change between has a greater offset, and touches the key again.
//	(4) The state file has an offset before the first touch that has not been acknowledged by the target.
//
// Once the source rests and the stream has been read to its end, each key has been written with its last value,
// however often parts of the stream have been read: by (4) all touches behind the offset in the state file are
// read again, and by (1) each of them does at most one unneeded copy. This holds over failovers of the target,
// where writes are repeated, and of the source, whose new primary continues the stream or sends all keys again.
//
// It costs: a key that changes is read as a whole. Changes that come while a key waits, or is being read, are
// taken together, so a key is never read more often than one after the other; but a list of 100 MB that gets an
// element each millisecond is read all the time. Transactions are not kept together: each key comes by itself,
// and a client of the target can see some keys of a transaction before others. And the source must be there: keys
// whose changes were read from the stream and that have not been read again are lost with it, as with any
// asynchronous replica; the lag says how many they are.
//
// FLUSHALL and FLUSHDB are executed, after all earlier touches have been applied; keys that are written again
// behind them are touched behind them, so twice is the same as once.
//
// # When the source sends all keys again
//
// At the beginning, and when the source has forgotten the offset, it sends an RDB file. Keys that were deleted
// since are not in it, and an earlier part of the import may have written them. So unless the target was
// empty, all of its keys that the source does not have are touched behind the file, and deleted.
//
// Sources that refuse replicas are read by SCAN, and keyspace events take the place of the stream (scan.go).
// Events have no offsets and are not repeated, so all keys are read again after a broken connection.
package importer
