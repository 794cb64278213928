// Package backup keeps what a cluster held at one moment in a directory, a stream or a bucket, checks it, and restores
// it into any other cluster.
//
// It owns what a backup consists of: an RDB file for each node that was a primary, and manifest.json, which is
// written last and says what belongs to the backup, with checksums. It does not own the moment, which the nodes agree
// on (package resp/node/internal/backup) and which package moment reads, nor the places (package storage), nor the way
// of a key into the target (package importer).
//
// Read [Manifest] first, then take.go, verify.go and restore.go.
package backup
