// Package check decides whether replies of servers are correct, with three methods:
//
//   - [Model], for load tests: many clients write the same keys, outcomes become unknown, keys
//     expire. A reply counts as lost, stale or corrupt only if no order of events explains it. Read
//     [Client.Begin] and [Client.End], then judge.go.
//   - [Recorder], for chaos tests: the history of concurrent clients ([HistoryClient]) is checked
//     for linearizability, with github.com/anishathalye/porcupine.
//   - [AppWorker], [AppPairs] and [AppGroup], for tests that kill nodes: each is the only writer of
//     its keys, so it knows every correct reply. [AppLoad] runs several.
//
// The package does not own connections: a [Doer] sends a command. It has no clock of its own where
// the caller tests in virtual time.
package check
