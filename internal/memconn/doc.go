// Package memconn is stream connections within one process, without sockets: a client and a server
// that are in the same program. Start with [Listener].
//
// A connection holds up to [Window] bytes in each direction that have not been read, as a socket
// does, so a client may send a pipeline before it reads replies ([net.Pipe] holds none).
package memconn
