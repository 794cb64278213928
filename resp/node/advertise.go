package node

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/ringside-kv/ringside/internal/machine"
	"github.com/ringside-kv/ringside/resp/node/internal/certs"
	"github.com/ringside-kv/ringside/resp/node/internal/hostport"
)

// advertised are the addresses that other nodes are told.
type advertised struct {
	bus, client string
	gossip      string // in the form of members.Config.Advertise; empty: the bound address
	guessed     string // the host, if it was found among this machine's own
}

// advertisedAddrs derives the advertised addresses from the bound ones and from Advertise; client is
// nil if there is none. An
// advertised port is that for clients; the others are derived from it.
func (c *Config) advertisedAddrs(bus, client net.Addr) (advertised, error) {
	t := advertised{bus: bus.String()}
	if c.staysAlone() {
		return t, nil
	}
	busHost, busPort, err := net.SplitHostPort(bus.String())
	if err != nil {
		return t, err
	}
	clientHost, clientPort := "", "" // no others reach a node that only has a Unix socket
	if client != nil {
		if clientHost, clientPort, err = net.SplitHostPort(client.String()); err != nil {
			return t, err
		}
	}
	gossipHost, _, err := hostport.Split(c.GossipAddr)
	if err != nil {
		return t, err
	}
	gossipPort := ""
	if c.Advertise != "" {
		host, port, err := splitAdvertise(c.Advertise)
		if err != nil {
			return t, err
		}
		busHost, clientHost, gossipHost = host, host, host
		if port != 0 {
			clientPort = strconv.Itoa(port)
			busPort, gossipPort = strconv.Itoa(port+busPortOffset), strconv.Itoa(port+gossipPortOffset)
		}
		t.gossip = host
		if gossipPort != "" {
			t.gossip = net.JoinHostPort(host, gossipPort)
		}
	}
	if hostport.IsWildcard(busHost) || hostport.IsWildcard(gossipHost) {
		if t.guessed, err = machine.OutwardHost(); err != nil {
			return t, err
		}
		if hostport.IsWildcard(busHost) {
			busHost = t.guessed
		}
		if hostport.IsWildcard(gossipHost) {
			t.gossip = t.guessed
		}
	}
	if hostport.IsWildcard(clientHost) {
		clientHost = busHost
	}
	t.bus = net.JoinHostPort(busHost, busPort)
	if clientPort != "" {
		t.client = net.JoinHostPort(clientHost, clientPort)
	}
	return t, nil
}

// splitAdvertise takes host[:port] apart; port is 0 if there is none.
func splitAdvertise(addr string) (host string, port int, err error) {
	if hostport.ParseIP(addr) == nil {
		if _, _, err := net.SplitHostPort(addr); err == nil {
			if host, port, err = hostport.Split(addr); err != nil {
				return "", 0, err
			}
			if port == 0 {
				return "", 0, errors.New("no node can connect to port 0; leave the port out to use the port that the node listens on")
			}
			if port+busPortOffset > hostport.MaxPort {
				return "", 0, fmt.Errorf("port + %d, where other nodes would connect, is above %d; use a port up to %d", busPortOffset, hostport.MaxPort, hostport.MaxPort-busPortOffset)
			}
			addr = host
		}
	}
	switch {
	case addr == "" || hostport.IsWildcard(addr):
		return "", 0, errors.New("names no host; use one by which other nodes and clients reach this one")
	case !hostport.Plausible(addr):
		return "", 0, fmt.Errorf("%q is neither an IP address nor a host name, with a port or without", addr)
	}
	return addr, port, nil
}

// log says what an operator should know of the addresses between nodes.
func (c *cluster) log(t advertised) {
	log := c.n.cfg.Logger
	if c.n.cfg.staysAlone() {
		log.Info("no port is open for other nodes", "node", c.n.id)
		return
	}
	self, _ := c.members.Node(c.n.id)
	tls := c.n.cfg.tls().BetweenNodes()
	log.Info("listening for other nodes", "node", c.n.id, "bus", t.bus, "gossip", self.GossipAddr, "clients", t.client, "secret", string(c.n.secret), "tls", tls)
	if tls == certs.Prefer {
		log.Warn("other nodes are accepted without a certificate: set --cluster-tls require once all nodes have one", "bus", t.bus)
	}
	if t.guessed != "" {
		log.Info("this node advertises an address of this machine; set --advertise if other nodes need another one", "addr", t.guessed)
	}
	if c.n.cfg.keepsToLoopback {
		log.Info("only nodes of this machine can join: there is neither a --cluster-key nor a --cluster-tls-cert", "bus", t.bus)
	}
}
