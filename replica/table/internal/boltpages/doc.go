// Package boltpages checks whether the pages of a bbolt file contradict each other.
//
// bbolt has checksums for its two roots alone: where any other page is damaged it panics, in
// goroutines of its own too, runs in circles, or later overwrites pages that are in use. The package
// only reads, and opens no database; the caller makes sure that no process writes to the file meanwhile.
//
// Read [Check].
package boltpages
