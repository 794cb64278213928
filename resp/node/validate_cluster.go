package node

import (
	"net/netip"

	"github.com/ringside-kv/ringside/ring"
)

// minClusterKey is the length in bytes of the shortest cluster key.
const minClusterKey = 16

// alone tells that the node belongs to no cluster.
func (c *Config) alone() bool {
	return len(c.Join) == 0 && c.BusAddr == "" && c.GossipAddr == ""
}

func (c Config) validateCluster(f *faults) {
	if !(c.Weight > 0) || c.Weight > ring.MaxWeight {
		f.add("weight", "%v: use a number above 0 and up to %d", c.Weight, ring.MaxWeight)
	}
	if n := len(c.ClusterKey); n > 0 && n < minClusterKey {
		f.add("cluster-key", "%d bytes long; use %d or more", n, minClusterKey)
	}
	if c.alone() {
		return
	}
	if c.Cluster == "" || len(c.Cluster) > ring.MaxIDLen {
		f.add("cluster", "%d bytes long; use 1 to %d", len(c.Cluster), ring.MaxIDLen)
	}
	for _, a := range []struct {
		setting, addr string
		offset        int
	}{{"bus-addr", c.BusAddr, busPortOffset}, {"gossip-addr", c.GossipAddr, gossipPortOffset}} {
		if a.addr == "" {
			var err error
			if a.addr, err = derivedAddr(c.Addr, a.offset); err != nil {
				f.add(a.setting, "missing, and none follows from addr %q: %v", c.Addr, err)
				continue
			}
		}
		c.validateBetweenNodes(f, a.setting, a.addr)
	}
}

// validateBetweenNodes looks at an address where other nodes connect, which they are
// told.
func (c Config) validateBetweenNodes(f *faults, setting, addr string) {
	host, _, err := splitAddr(addr)
	if err != nil {
		f.add(setting, "%q: %v", addr, err)
		return
	}
	ip, err := netip.ParseAddr(host)
	switch {
	case host == "" || err == nil && ip.IsUnspecified():
		f.add(setting, "%q is every interface; name the address at which other nodes reach this one", addr)
	case host != "localhost" && !(err == nil && ip.IsLoopback()) && c.ProtectedMode && c.ClusterKey == "":
		f.add(setting, "%q can be reached from other hosts: set cluster-key, or protected-mode no if every host that can reach it may take all data", addr)
	}
}
