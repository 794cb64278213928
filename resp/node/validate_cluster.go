package node

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/resp/node/internal/hostport"
	"github.com/ringside-kv/ringside/resp/node/internal/peerkey"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/cells"
	"github.com/ringside-kv/ringside/ring/ketama"
	"github.com/ringside-kv/ringside/ring/strategy"
	"github.com/ringside-kv/ringside/ring/vnode"
)

const (
	minClusterKey  = 16 // bytes of the shortest cluster key
	maxClusterName = 64 // bytes, as gossip has it
)

func (c Config) validateCluster(f *faults) {
	if !(c.Weight > 0) || c.Weight > ring.MaxWeight {
		f.add("weight", "%v: use a number above 0 and up to %d", c.Weight, ring.MaxWeight)
	}
	if err := ring.ValidateZone(c.Zone); err != nil {
		f.add("zone", "%v", err)
	}
	if n := len(c.ClusterKey); n > 0 && n < minClusterKey {
		f.add("cluster-key", "%d bytes long; use %d or more", n, minClusterKey)
	}
	if n := len(c.ClusterKeyAccept); n > 0 && n < minClusterKey {
		f.add("cluster-key-accept", "%d bytes long; use %d or more", n, minClusterKey)
	} else if n > 0 && c.ClusterKey == "" {
		f.add("cluster-key-accept", "another key is accepted beside cluster-key, which is not set")
	}
	// Users that cannot be read are reported where they are read.
	if secret, err := c.peerSecret(); err == nil && secret == secretFile && (len(c.Join) > 0 || c.BootstrapExpect != 0 || c.Role != RoleStore) {
		*f = append(*f, c.keyMissing())
	}
	if c.Cluster == "" || len(c.Cluster) > maxClusterName {
		f.add("cluster", "%d bytes long; use 1 to %d", len(c.Cluster), maxClusterName)
	}
	f.oneOf("role", c.Role, Choices("role"))
	f.oneOf("route", c.Route, Choices("route"))
	c.validateFounding(f)
	c.validateStrategy(f)
	if c.Advertise != "" {
		if _, _, err := splitAdvertise(c.Advertise); err != nil {
			f.add("advertise", "%q: %v", c.Advertise, err)
		}
	}
	if _, _, err := hostport.Split(c.baseAddr()); err != nil {
		return // reported, and the rest follows from it
	}
	if c.staysAlone() {
		c.validateAlone(f)
		return
	}
	c.validateBetweenNodes(f, "bus-addr", c.BusAddr, busPortOffset)
	c.validateBetweenNodes(f, "gossip-addr", c.GossipAddr, gossipPortOffset)
	c.validatePorts(f)
}

// keyMissing is the fault of a node that has to prove a secret to other nodes and has none that they know.
func (c *Config) keyMissing() *Fault {
	clients := "TLS"
	switch {
	case c.TLSCert != "":
	case c.socketGuards():
		clients = "the permission of a Unix socket"
	default:
		clients = "a user's password"
	}
	return &Fault{"cluster-key", "missing: clients need " + clients + ", so other nodes must prove a secret: " +
		"set cluster-key, or cluster-tls-cert, on all nodes (the first one's may be the text of " + peerkey.Name + " in its directory)"}
}

func (c Config) validateFounding(f *faults) {
	const most = 1000
	switch n := c.BootstrapExpect; {
	case n == 0:
	case n < 0 || n > most:
		f.add("bootstrap-expect", "%d is out of bounds: use 2 to %d, or 0 for none", n, most)
	case n == 1:
		f.add("bootstrap-expect", "1 would found a cluster at each start that reaches nobody; leave it out, and join with it, to found one, or use the number of nodes that start together")
	case c.Role != RoleStore:
		f.add("bootstrap-expect", "only stores found a cluster; leave it out and join the stores")
	}
	for _, peer := range c.Join {
		if err := validateJoin(peer); err != nil {
			f.add("join", "%q: %v", peer, err)
		}
	}
}

// validateJoin looks at one address to join: a host, with a port or without.
func validateJoin(peer string) error {
	if hostport.ParseIP(strings.Trim(peer, "[]")) != nil {
		return nil
	}
	host := peer
	if strings.Contains(peer, ":") {
		var port int
		var err error
		if host, port, err = hostport.Split(peer); err != nil {
			return err
		}
		if port == 0 {
			return errors.New("gossip needs a port, not port 0")
		}
	}
	if host == "" || !hostport.Plausible(host) {
		return errors.New("use host:port, or a host that gossips at port 7379")
	}
	return nil
}

// validateBetweenNodes looks at an address where other nodes connect.
func (c Config) validateBetweenNodes(f *faults, setting, given string, offset int) {
	addr, err := c.betweenNodes(given, offset)
	if err != nil {
		f.add(setting, "none follows from addr %q: %v; set %s, 127.0.0.1:0 for a free port of this machine, or use a lower port in addr", c.Addr, err, setting)
		return
	}
	host, _, err := hostport.Split(addr)
	switch {
	case err != nil:
		f.add(setting, "%q: %v", addr, err)
	case hostport.IsLoopback(host) || c.ClusterKey != "" || c.provesCertificates() || c.env.Network != nil:
		// A test's network has no other hosts.
	case given == "":
		f.add(setting, "%q, which follows from addr, can be reached from other hosts: set cluster-key, or cluster-tls-cert, on all nodes, or %s on 127.0.0.1", addr, setting)
	default:
		f.add(setting, "%q can be reached from other hosts: set cluster-key, or cluster-tls-cert, on all nodes, or an address on 127.0.0.1", addr)
	}
}

// validatePorts reports ports that a node would want twice.
func (c Config) validatePorts(f *faults) {
	bus, _ := c.betweenNodes(c.BusAddr, busPortOffset)
	gossip, _ := c.betweenNodes(c.GossipAddr, gossipPortOffset)
	http := c.HTTPAddr
	if http == "" {
		http, _ = derivedAddr(c.baseAddr(), httpPortOffset)
	}
	taken := []struct{ setting, addr string }{{"addr", c.Addr}, {"http-addr", http}}
	for _, own := range []struct{ setting, addr string }{{"bus-addr", bus}, {"gossip-addr", gossip}} {
		host, port, err := hostport.Split(own.addr)
		if err != nil || port == 0 {
			continue
		}
		for _, other := range taken {
			otherHost, otherPort, err := hostport.Split(other.addr)
			if err == nil && port == otherPort && hostport.Overlap(host, otherHost) {
				f.add(own.setting, "%q takes the port that %s %q has; use another port", own.addr, other.setting, other.addr)
			}
		}
		taken = append(taken, own)
	}
}

// validateStrategy looks at the settings that only one strategy has.
func (c Config) validateStrategy(f *faults) {
	asked := cmp.Or(c.askedStrategy, c.Strategy) // empty before the directory and the cluster have been asked
	ofAnother := func(name, setting string, given bool) {
		if given && asked != name && slices.Contains(strategy.Names(), asked) {
			f.add(setting, "belongs to strategy %s, not to %s", name, asked)
		}
	}
	given := c.wants().Over(strategy.Config{})
	for _, name := range strategy.Names() {
		for _, setting := range strategy.Settings(name) {
			ofAnother(name, setting, given.Has(setting))
		}
	}
	ofAnother(strategy.VNode, "pin", c.Pin != "")
	if c.Mask != "" {
		if _, err := buckets.ParseMask(c.Mask); err != nil {
			f.add("mask", "%v", err)
		}
	}
	if _, err := c.ownPins(); err != nil {
		f.add("pin", "%v", err)
	}
	_, err := c.strategy()
	for _, known := range []struct {
		err     error
		setting string
	}{{buckets.ErrMask, "mask"}, {ketama.ErrRule, "ketama-rule"}, {ketama.ErrPoints, "points"}, {vnode.ErrVNodes, "vnodes"},
		{cells.ErrProbes, "probes"}, {cells.ErrCandidates, "candidates"}, {cells.ErrSlack, "slack"}} {
		if errors.Is(err, known.err) {
			f.add(known.setting, "%v", err)
		}
	}
}
