// Package layout owns what the store's entries look like on disk: the keys in Pebble, the header
// of a key, and the order of places.
//
// It is pure. Read [Place] first, then key.go (keys in Pebble) and header.go. [Interval] and the
// sets of intervals say which places a range of tokens has; [Position] is a point in the order of
// the entries of a range, the same on every store.
package layout
