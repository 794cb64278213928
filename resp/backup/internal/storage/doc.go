// Package storage keeps the files of a backup in a directory, in one stream, or in a bucket of an S3-compatible
// service.
//
// It owns the places and how files lie there. It does not know what the files mean: which of them belong to a backup,
// and whether they are as they were written, says the manifest (package resp/backup).
//
// A file is there as a whole or not at all: [Target] creates it under another name, as parts of an upload, or as
// pieces of the stream. A stream has no such promise for files before it ends: its reader counts on the manifest,
// which is written last.
//
// Read storage.go first, which has the interfaces, then directory.go, stream.go and bucket.go.
package storage
