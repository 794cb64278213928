package node

import (
	"context"
	"net"

	"github.com/ringside-kv/ringside/resp/client"
)

// InProcessConfig returns the default settings of a node that opens no port: only the program that
// opens it reaches it, by [Node.Do] and [Node.Dial]. Such a node is alone for good. Its directory can
// later be opened with ports, and other nodes can then join it.
func InProcessConfig(dir string) Config {
	c := DefaultConfig()
	c.Dir, c.Addr, c.BusAddr, c.GossipAddr, c.HTTPAddr = dir, AddrOff, AddrOff, AddrOff, HTTPOff
	return c
}

// Do sends a command to the node without a socket and waits for its reply, or until ctx is done: then
// the outcome is unknown. Keys of other nodes are forwarded. Each call has a connection for itself,
// so a command may wait, as BLPOP does; those that change their connection (subscriptions,
// transactions, SELECT) fail with [client.ErrUnshared] and need [Node.Dial]. The caller needs no
// password, and has the rights of the default user.
func (n *Node) Do(ctx context.Context, args ...string) client.Reply { return n.local.Do(ctx, args...) }

// Dial connects a client library to the node without a socket. It fits redis.Options.Dialer of
// go-redis; network and addr are ignored. TLS is not spoken. The client is the default user, without
// a password, until it sends AUTH.
func (n *Node) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	return n.cfg.env.Local.Dial(ctx)
}

// staysAlone reports whether the node opens no port for other nodes.
func (c *Config) staysAlone() bool { return c.BusAddr == AddrOff && c.GossipAddr == AddrOff }

// portOf returns the address to listen on; some port where it is off, where none is opened.
func portOf(addr string) string {
	if addr == AddrOff {
		return "127.0.0.1:0"
	}
	return addr
}

// validateAlone looks at the settings of a node that opens no port for other nodes.
func (c Config) validateAlone(f *faults) {
	if len(c.Join) > 0 || c.BootstrapExpect != 0 || c.Role != RoleStore || c.Advertise != "" {
		f.add("bus-addr", "off keeps the node alone; leave out join, bootstrap-expect, role and advertise, or set bus-addr and gossip-addr")
	}
}
