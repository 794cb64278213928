// Package hashes has the commands on hashes.
package hashes
