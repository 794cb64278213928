// Package latch makes commands on the same key serial, and tells readers without a latch whether
// what they have read is of a commit that is not durable yet.
//
// Read [Table] and [Latch] first.
package latch
