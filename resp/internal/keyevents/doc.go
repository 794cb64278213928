// Package keyevents tells what happens to keys, on all nodes: to clients on channels, as Redis'
// notify-keyspace-events says, and to a follower, which hears of every key that changes. Commands note events with
// their unit (store.Unit.Note). Once its commit has settled they come here, in the order of commits, and go to the
// clients of this node and to all other nodes.
//
// It owns the numbers of commits, the lines to other nodes, and what each node wants to know. It owns neither
// subscriptions (package pubsub) nor the connections between nodes, which it gets with [Events.Relink].
//
// Invariants:
//
//   - A reply leaves after all nodes that seem to be there have the events of its write, but
//     for one that has not answered for a second. So whatever becomes of this node
//     afterwards, no event of an acknowledged write is lost with it.
//   - Commits are numbered, over all nodes alike. A node that gets a number that does not follow has
//     missed something, and tells its clients so; likewise a node that hears no more of another one that
//     has not said that it ends, and one that hears first of a node that has told others before.
//   - A node that has just started does not know what others want to know. Until they have
//     told it, it tells them everything, and for some seconds it numbers everything, for those
//     whom it has not met yet.
//   - A node that was away when another one began to want events, or has forgotten that it did, has not noted
//     them. So a node that tells another one late what is wanted hears what that has noted before; if it
//     is less, there is a gap.
//
// Read [Events] first, then line.go and origin.go: the two ends of the way between nodes.
package keyevents
