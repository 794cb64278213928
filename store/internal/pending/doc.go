// Package pending keeps the changes of elements that a unit has made and not committed yet.
//
// A Pebble batch without an index cannot be asked what it holds, so reads of the unit merge these
// changes with what Pebble has. Read [Changes] first. It is pure; one goroutine uses it at a time.
package pending
