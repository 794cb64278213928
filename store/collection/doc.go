// Package collection lays hashes, sets, lists, sorted sets and streams out in a store: small
// ones whole, in their key's header, large ones, and all streams, as an element for each
// field, member or entry.
//
// It owns the forms of both, and when one becomes the other. It does not own what lies on
// disk beyond them, nor latches, commits and expiry (package store), nor the commands and
// their replies (package resp).
//
// Read [Table] first, then packed.go for the small form and subkey.go for the large one, then
// [List], then [ZSet], score.go for its order, counts.go and log.go for how ranks are found, and
// rank.go, and [Stream].
package collection
