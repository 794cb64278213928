// Package step names the points in a write, a failover or a handoff at which tests stop a node.
//
// It owns the names only. The engine and the feed report each [Step] that they reach to a callback
// of their configuration, which is nil outside of tests.
package step
