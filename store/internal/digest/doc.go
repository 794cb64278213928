// Package digest compares what two stores hold of a range, without sending it: a digest stands for
// a few entries, in two levels.
//
// Read [Digests] first, then wire.go, which is how they travel. [Matcher] compares the digests of
// another store with the entries of this one, [LiveSum] what has not expired at some moment.
package digest
