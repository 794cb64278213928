// Package model writes like an application and knows the answers: each [Worker] is the
// only one to write its keys, so that every reply, and in the end every value, is either
// right or wrong, also when nodes are killed in between and outcomes are not known.
//
// [Pairs] does so in transactions, and [Group] reads a stream as a group.
//
// It knows nothing of how requests get to a server: that is a [Doer]. Begin with [Load].
package model
