// Package monitoring has clients see the commands that run, as MONITOR does: those of their node, or those of all nodes.
//
// A command of a client is shown by the node that the client is connected to, once, with the client's address, whichever
// node runs it. The commands of a script are shown by the node that runs the script. A node with clients that see all
// nodes asks each other one for its lines (RING MONITOR) again and again; the answer waits until there is a line.
//
// It owns the sets of clients, the lines on their way to other nodes, and the goroutines that ask. It does not own what a
// line shows, nor the connections, neither of clients nor between nodes.
//
// Invariants:
//
//   - Once [Monitors.Add] has returned, the client sees what its node, and each other node that has answered in time,
//     shows from then on, in the order of each node. It may see lines of several nodes in another order than they ran in.
//   - A node keeps a bounded number of bytes for each other one, and drops more. What is dropped, or lost with a
//     connection or a node, a line tells.
//   - While no client at any node sees lines, [Monitors.Any] is false, and nothing runs.
//
// Read [Monitors] first, then feed.go (the node that asks) and watcher.go (the node that is asked).
package monitoring
