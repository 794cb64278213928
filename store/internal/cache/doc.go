// Package cache keeps hot values in memory, outside the Go heap: headers of keys, with them short
// strings, and elements of collections.
//
// Read [Cache] first, then shard.go (the ring of a shard), index.go (how it finds lines),
// element.go and row.go (elements of collections; items of lists share lines). What keeps the
// cache true to Pebble is the order of a commit, not this package: a line changes after Pebble has
// the batch, and a fill is refused if the version of the key's latch has changed ([Version]).
package cache
