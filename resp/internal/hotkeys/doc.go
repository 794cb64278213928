// Package hotkeys is the command HOTKEYS of Redis 8.6: it finds the keys that cost the most processor time and
// network bytes while it tracks them.
//
// A [Tracker] belongs to a server. While nothing is tracked, a command costs one load of a pointer. A
// session keeps two sketches of bounded size. The nodes of a cluster are asked by the node that a client
// sends the command to, so that a session covers the cluster, and GET merges what the nodes found.
//
// Syntax and replies follow the documentation of Redis 8.6 (redis.io/docs/latest/commands/hotkeys-start and
// hotkeys-get).
//
// Read [Tracker] first, then sketch.go.
package hotkeys
