// Package nodes runs Ringside nodes as processes on the loopback interface, for commands
// that measure whole clusters, fills them and talks to them.
//
// Begin with [Options], which are the flags of such a command: they make the binary and run
// nodes of it. [Fill] writes keys. A [Conn] sends commands; [Node.Until] waits for what RING
// INFO tells, [Whole] for a cluster in which nothing moves. A Node may be used
// from any goroutine, a Conn from one at a time.
package nodes
