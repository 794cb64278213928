// Package command has what all commands share: [Row], the one place that says everything about a
// command, and [Call], one command that runs.
//
// A [Table] finds the row of a request. Its keys are found by [Row.KeysOf], and what COMMAND DOCS
// returns lies in docs/*.json. A Call holds the arguments, the unit of the store and the reply; its
// methods open collections, count memory and stream large replies. What it needs from the server
// it asks of [Host]. The commands themselves are in ../types, or in package resp where they
// act on the server, the connection or the cluster.
package command
