// Package nodetest holds clients that test nodes: they decide whether the replies are correct, with
// two methods.
//
//   - [Recorder], for tests of chaos: the history of concurrent clients ([HistoryClient]) is checked
//     for linearizability, with github.com/anishathalye/porcupine.
//   - [AppWorker], [AppPairs] and [AppGroup], for tests that kill nodes: each is the only writer of
//     its keys, so it knows every correct reply. [AppLoad] runs several.
//
// A [Doer] sends a command: a [Wire] is one connection, [GoRedis] a client library. The package has
// no clock of its own where the caller tests in virtual time.
package nodetest
