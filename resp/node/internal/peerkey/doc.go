// Package peerkey makes the key that nodes prove to each other where no cluster-key is set: from a password, or from a
// file of the data directory.
package peerkey
