// Package members tells which nodes of the cluster are there, where they listen and
// which nodes seem alive, by Serf's gossip. That is a hint: which node owns what is decided by
// Raft (replica/table), and a node that is failed here may well be alive.
//
// Read [Config] and [Node] first, then [Members].
//
// # It owns
//
// The gossip port, the encryption of gossip, the search for peers, the file of
// peers that a restarted node begins with, and the refusal of strangers: nodes of
// another cluster name, strategy, hash or key, or of a cluster of the same name that
// was founded apart (its generation is another). It owns no membership in the sense
// of the placement: a node that no other has seen for a day is forgotten here and
// still a member there.
//
// # Identity
//
// To Serf, each start of a node is a member of its own: its name is the id, the
// incarnation and a random number (start_id.go). This package shows one [Node] for each
// id, that of the highest incarnation. So a node that comes back at another address
// replaces its predecessor at once, whether that one is dead, suspect, or not yet
// missed, where Serf by itself would refuse a known name at a new address until its
// old holder is dead. And if two live nodes have one id, both are seen, and the
// older is told by [Members.Fatal]. Of two with the same incarnation too (a copied
// directory), every node chooses the same one, by the random number.
//
// # How long a failure takes to be seen
//
// With the timing that is the default, [LAN], each node probes one other a second, so
// a dead node is probed by one or another within about two seconds; the probe counts
// as failed after 1 s, and a suspect becomes failed after 4 s without a sign of life:
// 5 to 7 s from death to [Failed] in clusters of up to ten nodes. From four nodes
// on two others have to confirm the suspicion, and the 4 s are 24 s if none does.
// Above ten nodes they grow with the logarithm of the number of nodes: 8 s for a
// hundred. Serf does not show the state between, suspect, so there is none here.
//
// A node that was cut off is there again once one of the two asks the other what it knows:
// by chance within half a minute, and at once if it is heard otherwise ([Members.Heard]),
// as when it connects to the bus. One side may see that long before the other does.
//
// A node that leaves is seen to within about a second; if the message of its leaving
// gets lost, it shows as failed.
//
// # Who calls what
//
// Serf sends its events while it holds its locks, so nothing here that reads them
// may wait: one goroutine takes them off and leaves a note, another one reads the
// members and tells the watchers by channels that hold one note each (events.go).
// An event carries no state in this package; its receiver reads all of it. So
// none is lost, however slow a watcher is.
package members
