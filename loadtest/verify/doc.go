// Package verify knows what clients of a load test have written, and judges what they read:
// whether an answer is lost, stale or corrupt.
//
// It owns the model of acknowledged writes and the rules of what is certain: many clients
// write the same keys at once, outcomes get unknown, keys expire, and still nothing is
// counted that any order of events could explain. It does not own connections or clocks:
// it is told when a command is about to be sent, and what came back.
//
// Read [Model] first, then [Client.Begin] and [Client.End], then judge.go for the rules.
package verify
