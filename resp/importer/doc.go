// Package importer takes the keys of Redis, Valkey and their like over into a cluster of Ringside.
//
// It owns the way of a key from a source to the target: which keys are taken, batches, parallel writes,
// attempts, counts, and the list of what could not be taken. It does not own RDB files (package rdbfile),
// routing (package client) nor flags.
//
// Read [Load] first, which writes an RDB file, then loader.go, which writes in parallel, and parts.go for
// values that are too large for one command.
//
// # Why a write may be repeated
//
// The target may fail over while keys are written, and then nobody can say whether a write was executed. All
// writes of this package can therefore be executed twice: whole values are written by RESTORE REPLACE,
// additions to sets, hashes and sorted sets are the same twice, and before RPUSH is repeated, the length of
// the list tells whether it was executed.
package importer
