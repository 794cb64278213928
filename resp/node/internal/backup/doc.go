// Package backup is a node's part in backups of the cluster: one moment that all primaries agree on, and the
// streams of what each of them held then.
//
// It owns the protocol between nodes, the pins of the store with their life time, and the RDB streams. It does
// not own files, which are the business of the one who reads the streams (package resp/backup).
//
// # One moment
//
// The node that a client asks, the coordinator, sends hold to every node that is a primary. Each of them has no
// commit begin any more, and pins what its store holds. When all have answered, there is a time at which all of
// them held: the moment. The coordinator then sends release to all. A write that was acknowledged before the
// hold of its node is in the pins, and so is everything that was acknowledged before that write began, on
// whatever node: had its node held before, the moment would have to be both before and after.
//
// A hold ends by itself after a short time, whatever becomes of the coordinator. The moment counts only if every
// node says, in answer to release, that until then
//
//   - it held,
//   - it served the rows that it had named, in the same epochs, none of them on hold for a cutover,
//   - its lease was valid all the time, so that no other node was the primary of these rows,
//
// and that afterwards all that it had pinned was acknowledged by the backups in sync: what they do not have may
// be undone by a failover. And the rows of all nodes must cover the circle, each token once. Everything else is
// an error; the coordinator then tries again a few times with new pins.
//
// Reads of single keys go on meanwhile. The hold takes no lock, and waits for no unit: changes of the placement,
// leases and failovers go on, too.
//
// A pin ends when its client says so, when nothing has come for a while, or soon after the last connection of its
// client has ended (gone.go).
//
// Read keeper.go first, which answers on each node, then moment.go, the coordinator, and stream.go.
package backup
