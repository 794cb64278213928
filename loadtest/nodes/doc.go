// Package nodes runs Ringside nodes as processes on the loopback interface, for commands
// that measure whole clusters, and talks to them.
//
// Begin with [Build], which makes the binary, and [Start], which runs a node of it. A
// [Conn] sends commands; [Node.Until] waits for what RING INFO tells. A Node may be used
// from any goroutine, a Conn from one at a time.
package nodes
