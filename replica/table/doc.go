// Package table holds the placement that the cluster has agreed on: which node
// serves which range, which nodes have copies of it, what is being moved and how far that is.
//
// It owns the state machine that decides it, the Raft group that runs the state
// machine on every node, and who of the nodes votes in that group. It does not own
// liveness and addresses (replica/members), the connections between nodes (it
// declares a [StreamLayer] and is handed one), the data, or the choice of what should
// move: a [Plan] comes from outside.
//
// The state machine is pure: [State.Apply] is a function of a state and a [Command],
// without I/O, clock or goroutine, and every State is a value that never changes.
// DESIGN.md says what always holds of it; [State.Check] tests that.
//
// Read [State], [Row] and [Command] first, then [Table], which runs them.
package table
