// Package check decides whether the replies that clients of a load test get are correct. Many
// clients write the same keys, outcomes become unknown, keys expire: a reply counts as lost, stale
// or corrupt only if no order of events explains it.
//
// It owns the [Model] of all writes. It does not own connections or operations (packages client and
// workload). Read [Client.Begin] and [Client.End] first, then judge.go for the rules.
package check
