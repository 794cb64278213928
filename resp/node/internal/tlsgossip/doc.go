// Package tlsgossip carries gossip through TLS, for nodes that prove certificates to each other and no common key. A
// [Network] is a members.Network over another one: its streams are TLS connections, and its packets travel in frames on TLS
// connections as well, so that the port takes nothing from a process without a certificate, and no UDP.
//
// A connection begins with the handshake of TLS, after which the acceptor says that it has verified the dialler. The dialler then
// says what the connection is for: a stream of memberlist, or packets from the node that gossips at a port of its address.
// Packets may be lost, as on UDP: what waits for a node that is not reached is dropped. A connection for packets is replaced
// after a while, so that a lost route delays packets no longer than that, and a removed authority counts no longer.
//
// Begin with network.go; packets.go has the packets.
package tlsgossip
