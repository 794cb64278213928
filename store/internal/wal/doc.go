// Package wal owns the files of the write-ahead log: what a Sync means in each fsync mode, what
// happens when one fails, and the check of the logs when a store is opened.
//
// Pebble writes the records; package wal is the file system that it writes them to. Read [FS] first,
// then mark.go, which says up to where each log is known to be on stable storage.
package wal
