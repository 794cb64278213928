// Package resp speaks the Redis protocol: it accepts connections, guards the
// parser against hostile bytes, keeps a session for each client, finds each
// command in one table and lets it work on the store, a whole pipeline at a
// time.
//
// It owns the sockets, the sessions, the command table and the words of every
// reply. It does not own data (package store), nor which node a key belongs to: it is
// told by [Server.SetRoutes], and goes by that.
//
// A request for keys of another node is forwarded there as the client sent it, and the
// reply comes back as it is. It runs there: that node's SLOWLOG and statistics
// of commands show it, as that of a client called "forwarded", and its limits hold. The
// node that the client talks to counts it as forwarded, shows it to MONITOR (monitor.go), holds CLIENT
// PAUSE and CLIENT REPLY, and pays for its memory meanwhile.
//
// Read [Server] first, then conn.go (the loop), internal/command (what a command is) and
// internal/types (the commands on values). The commands in cmd_*.go act on the server, the
// connection or the cluster. For several nodes: [Routes], then
// forward_route.go (what becomes of a request that is not this node's), forward.go and
// forward_split.go, forward_scatter.go (commands on all keys), forwarded.go (the other side). For
// what clients keep: tracking.go, then tracking_remote.go and tracking_feed.go (the two sides of
// what nodes tell each other).
package resp
