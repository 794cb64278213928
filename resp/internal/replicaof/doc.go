// Package replicaof makes a cluster a replica of another server: REPLICAOF host port.
//
// It owns what the nodes agree on for that, and the import that one of them runs. It does not own the import itself
// (package importer), nor what clients of a replica may do: the users of a node know that (package acl).
//
// Read Follower first.
//
// # Why the copy equals the primary
//
// Clients may not write while the cluster is a replica, and the import begins only after [Config.Settle]: no node runs a
// client's write any more. So from the first key that is copied on, only the import writes, and it promises that each key
// gets the value that it has at the primary (package importer). Keys that the cluster had before and the primary does not
// have are deleted behind the first copy.
//
// Three things differ from the primary all the same. Keys expire by the clock of their own node. A node at its
// max-data evicts keys or refuses them. And values that this store cannot hold are left out: they are logged, and INFO
// counts them.
package replicaof
