// Package psync serves replicas of Redis and Valkey: a server that was sent REPLICAOF with the address of a node
// follows the whole cluster through that node.
//
// It owns the answers to REPLCONF, PSYNC and SYNC, the RDB file of a full synchronization, the stream of commands and its
// backlog. It owns neither the moment of the file (package moment), nor how a node learns of changes at other nodes
// (package keyevents), nor the socket, which package resp hands over with [Server.Serve].
//
// # What is sent
//
// The nodes of a cluster have no common order of commands, so there is no stream of theirs to pass on. The stream is
// made here: of each key that has changed, the value is read, through this node as any client would, and sent as a
// whole, by RESTORE with its expiry time, or DEL. This holds:
//
//	(1) Once a key's change has settled, the key is noted (keyevents), whatever command changed it.
//	(2) A key that is noted is read after that, and what was read is sent.
//	(3) Of one key there is one read at a time. A key that is noted meanwhile is read again afterwards.
//
// By (3), the values of a key are sent in the order in which the cluster had them; not all of them, since changes
// that come while a key waits are sent as one. By (1) and (2), the last one is always sent. Sending a value twice does
// no harm. Commands of the cluster are not passed on, so scripts, random choices and clocks need no care.
//
// It costs: a large collection that changes is read and sent as a whole. After a value of n bytes the same key rests
// for as long as n bytes take at 16 MiB/s (keyRate), so that one list does not take all of the connection. And keys of
// one transaction are sent one by one.
//
// # The beginning
//
// A full synchronization notes changes first, and then has all primaries agree on a moment, of which the RDB file is.
// Between the two nothing is sent, and what was read before the moment is not sent after it: so what follows the file
// is never older than the file.
//
// # What is not in the notes
//
// FLUSHALL and FLUSHDB remove keys without naming them, on each node at a time of its own, and SWAPDB makes all keys
// of two databases others. Both become FLUSHDB or FLUSHALL in the stream, shortly after the first note of it, and then
// all keys that the database has are noted. What was read before is not sent behind the flush. Functions are compared
// once a second.
//
// # Histories
//
// A history is a stream with its replication id and offsets. It begins with the first replica and ends when notes may
// be missing (keyevents tells), when more keys wait than memory is for, or when no replica was there for
// repl-backlog-ttl. A replica that comes back within a history goes on where it was, if the backlog reaches back so far.
// While no replica reads, keys that change wait and nothing is added to the stream; so an absence costs as much of the
// backlog as was on the way. After the end of a history, replicas start with a full synchronization.
//
// Read [Server] first, then history.go, pending.go (which keys wait) and stream.go (the backlog). feeder.go reads keys,
// snapshot.go sends the file, replica.go is one connection.
package psync
