// Package streams has the commands on streams and their consumer groups.
package streams
