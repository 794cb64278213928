package node

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/ringside-kv/ringside/resp/node/internal/hostport"
	"github.com/ringside-kv/ringside/resp/node/internal/listeners"
)

// Distances from the port for clients to the others of a node.
const (
	gossipPortOffset = 1000
	httpPortOffset   = 2000
	busPortOffset    = 10000
)

// AddrOff as [Config.Addr] means that no TCP socket is opened for clients. The other addresses
// are then derived from the default one. As BusAddr and GossipAddr it means that the node is alone
// for good and opens no port for other nodes.
const AddrOff = "off"

// baseAddr is the address that the others are derived from.
func (c *Config) baseAddr() string {
	if c.Addr == AddrOff {
		return DefaultConfig().Addr
	}
	return c.Addr
}

// sockets are those for clients.
func (c *Config) sockets() listeners.Config {
	s := listeners.Config{
		Addr: c.Addr, TCP: c.env.Listen, Unix: c.UnixSocket, Mode: c.UnixSocketMode, Inherited: c.Listeners,
		Track: c.env.Conns.Track, Memory: c.env.Local,
	}
	if c.Addr == AddrOff || slices.ContainsFunc(c.Listeners, isTCP) {
		s.Addr = ""
	}
	return s
}

func isTCP(l net.Listener) bool { return !listeners.IsUnix(l.Addr()) }

// derivedAddr returns the default address of another service than that for clients: the same host,
// and a port higher by offset. Port 0 stays 0.
func derivedAddr(addr string, offset int) (string, error) {
	host, port, err := hostport.Split(addr)
	if err != nil {
		return "", err
	}
	if port != 0 {
		port += offset
	}
	if port > hostport.MaxPort {
		return "", fmt.Errorf("port + %d is above %d", offset, hostport.MaxPort)
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}

// deriveBetweenNodes fills in where nodes connect and gossip, as far as that follows.
func (c *Config) deriveBetweenNodes() {
	if c.staysAlone() {
		return
	}
	bus, busErr := c.betweenNodes(c.BusAddr, busPortOffset)
	gossip, gossipErr := c.betweenNodes(c.GossipAddr, gossipPortOffset)
	c.keepsToLoopback = c.keepsToLoopback || c.staysLocal()
	if busErr == nil {
		c.BusAddr = bus
	}
	if gossipErr == nil {
		c.GossipAddr = gossip
	}
}

// betweenNodes returns an address for other nodes: the given one, or one derived from the address
// for clients.
func (c *Config) betweenNodes(given string, offset int) (string, error) {
	if given != "" {
		return given, nil
	}
	addr, err := derivedAddr(c.baseAddr(), offset)
	if err != nil || !c.staysLocal() {
		return addr, err
	}
	_, port, err := net.SplitHostPort(addr)
	return net.JoinHostPort("127.0.0.1", port), err
}

// staysLocal reports whether the bus and gossip stay on loopback although clients of
// other hosts may connect: no setting speaks of a cluster, and there is neither a key nor a certificate.
func (c *Config) staysLocal() bool {
	if c.BusAddr != "" || c.GossipAddr != "" || len(c.Join) > 0 || c.BootstrapExpect != 0 || c.Advertise != "" ||
		c.ClusterKey != "" || c.provesCertificates() || c.Role != RoleStore {
		return false
	}
	host, _, err := hostport.Split(c.baseAddr())
	return err == nil && !hostport.IsLoopback(host)
}
