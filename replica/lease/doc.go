// Package lease decides which node may answer, and which node takes over.
//
// A node answers only under a lease. [Holder] is the state of a node's own lease, [Granter] that of
// the leader that grants leases; [Failover] chooses the new primaries of a node whose lease is
// over. All three are pure: the caller passes the time, sends the messages and locks. [Lease] is
// what connections check before a reply leaves.
//
// It owns no message and no goroutine: package replica renews the lease, confirms the leader and
// asks the members. The rules are argued in replica/DESIGN.md.
package lease
