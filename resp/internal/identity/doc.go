// Package identity tells servers and clusters apart by what they say of themselves.
//
// It owns what the state files of imports and restores remember of both sides, so that a file that belongs to one
// cluster is never used with another. It does not own these files (packages resp/importer and resp/backup).
package identity
