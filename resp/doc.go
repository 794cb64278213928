// Package resp speaks the Redis protocol: it accepts connections, guards the
// parser against hostile bytes, keeps a session for each client, finds each
// command in one table and lets it work on the store, a whole pipeline at a
// time.
//
// It owns the sockets, the sessions, the command table and the words of every
// reply. It does not own data (package store), nor which node a key belongs to.
//
// Read [Server] first, then conn.go (the loop), command.go and table.go (what a
// command is), and cmd_*.go (what the commands do).
package resp
