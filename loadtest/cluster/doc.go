// Package cluster starts, changes and watches clusters of Ringside, with nodes in this process or
// in processes of their own.
//
// [Start] starts the [Cluster] of a load test: nodes join, leave, are killed and restarted, and a
// [Watch] samples what they report. A [Process] is one node as a process, for programs and tests
// that control nodes one by one; [ProcessOptions] are the flags of such programs, a [Conn] talks to
// a node.
//
// It does not own the load on the cluster (package client) or the figures (package result).
package cluster
