// Package storage connects the replication engine with package store.
//
// It owns the rule which writes follow a copy: a change is sent if and only if its keys have been
// copied (outgoing_copy.go). It also adapts taps, received feeds and scrubs. It does not own what is
// copied or when: package replica declares the interfaces that it implements.
package storage
