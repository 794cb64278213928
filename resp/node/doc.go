// Package node is one running Ringside, wired together: the package to embed.
//
// [Open] starts a node from a [Config]; [Node.Close] stops it. A Config begins with [DefaultConfig];
// [Config.Validate] says everything that is wrong with one. [Node.Do] and [Node.Dial] use a node
// without a socket; one that begins with [InProcessConfig] opens no port.
//
// Every node is part of a cluster, if only of itself. How it gets into one is in
// enter.go, how several found one together, and why only one, in bootstrap.go, and what
// a directory remembers of it in belonging.go.
//
// It owns the wiring and the settings. It does not own the protocol (package
// resp) nor the data (package store).
package node
