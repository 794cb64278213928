// Package wal owns the write-ahead log of a store: what a reply promises in each fsync mode, what
// happens when the log fails, and what a start finds.
//
// Read [Log] first, then segment.go for the format of the files and mark.go, which says up to where
// each of them is known to be on stable storage. pebblelog.go checks the logs that earlier versions
// had Pebble write.
package wal
