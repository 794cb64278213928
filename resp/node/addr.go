package node

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/ringside-kv/ringside/resp/node/internal/listeners"
)

const maxPort = 1<<16 - 1

// Distances from the port for clients to the others of a node.
const (
	gossipPortOffset = 1000
	httpPortOffset   = 2000
	busPortOffset    = 10000
)

// AddrOff as [Config.Addr] means that no TCP socket is opened for clients. The other addresses
// are then derived from the default one.
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
		Addr: c.Addr, TCP: c.env.listen, Unix: c.UnixSocket, Mode: c.UnixSocketMode, Inherited: c.Listeners,
		Track: c.env.conns.track,
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
	host, port, err := splitAddr(addr)
	if err != nil {
		return "", err
	}
	if port != 0 {
		port += offset
	}
	if port > maxPort {
		return "", fmt.Errorf("port + %d is above %d", offset, maxPort)
	}
	return net.JoinHostPort(host, strconv.Itoa(port)), nil
}

// deriveBetweenNodes fills in where nodes connect and gossip, as far as that follows.
func (c *Config) deriveBetweenNodes() {
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
// other hosts may connect: no setting speaks of a cluster, and there is no key.
func (c *Config) staysLocal() bool {
	if c.BusAddr != "" || c.GossipAddr != "" || len(c.Join) > 0 || c.BootstrapExpect != 0 || c.Advertise != "" ||
		c.ClusterKey != "" || c.Role != RoleStore {
		return false
	}
	host, _, err := splitAddr(c.baseAddr())
	return err == nil && !isLoopback(host)
}

// splitAddr takes a host:port apart; its errors say what would be right.
func splitAddr(addr string) (host string, port int, err error) {
	const form = "use host:port, such as 127.0.0.1:6379, [::1]:6379 or :6379 for every interface"
	if addr == "" {
		return "", 0, errors.New("empty; " + form)
	}
	if strings.Contains(addr, "://") {
		return "", 0, errors.New("a URL; " + form)
	}
	if strings.ContainsAny(addr, ", \t\r\n") {
		return "", 0, errors.New("more than one address, or a blank in it; " + form)
	}
	host, text, err := net.SplitHostPort(addr)
	if err != nil {
		why := "not an address"
		var addrErr *net.AddrError
		if errors.As(err, &addrErr) {
			why = addrErr.Err
		}
		return "", 0, errors.New(why + "; " + form)
	}
	port, err = strconv.Atoi(text)
	if err != nil || port < 0 || port > maxPort || text[0] == '+' || text[0] == '-' {
		return "", 0, fmt.Errorf("port %q is not a number from 0 to %d", text, maxPort)
	}
	if !plausibleHost(host) {
		return "", 0, fmt.Errorf("%q is neither an IP address nor a host name", host)
	}
	return host, port, nil
}

// plausibleHost reports whether host may be an address or a name; whether it
// exists is only known when it is listened on.
func plausibleHost(host string) bool {
	if host == "" || parseIP(host) != nil {
		return true
	}
	onlyDigits := true // 127.0.0.256 is a mistyped address, not a name
	for _, r := range host {
		switch {
		case r >= '0' && r <= '9', r == '.':
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '-', r == '_', r >= 0x80:
			onlyDigits = false
		default:
			return false
		}
	}
	return !onlyDigits
}

// parseIP also takes an IPv6 address with a zone, as link-local ones have.
func parseIP(host string) net.IP {
	if i := strings.IndexByte(host, '%'); i > 0 {
		host = host[:i]
	}
	return net.ParseIP(host)
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := parseIP(host)
	return ip != nil && ip.IsLoopback()
}

// overlap reports whether one port cannot be had on both hosts.
func overlap(a, b string) bool {
	return strings.EqualFold(a, b) || isWildcard(a) || isWildcard(b)
}

func isWildcard(host string) bool {
	ip := parseIP(host)
	return host == "" || ip != nil && ip.IsUnspecified()
}
