package node

import (
	"github.com/ringside-kv/ringside/internal/resptest"
	"net"
	"strings"
	"testing"
)

func TestAdvertisedAddresses(t *testing.T) {
	at := func(addr string) net.Addr {
		a, err := net.ResolveTCPAddr("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	for _, tt := range []struct {
		advertise, bus, client, gossip string
		want                           advertised
	}{
		{"", "127.0.0.1:16379", "127.0.0.1:6379", "127.0.0.1:7379", advertised{bus: "127.0.0.1:16379", client: "127.0.0.1:6379"}},
		{"", "10.0.0.5:16379", "0.0.0.0:6379", "10.0.0.5:7379", advertised{bus: "10.0.0.5:16379", client: "10.0.0.5:6379"}},
		{"db-1", "0.0.0.0:16379", "0.0.0.0:6379", ":7379", advertised{bus: "db-1:16379", client: "db-1:6379", gossip: "db-1"}},
		{"db-1:7000", "0.0.0.0:16379", "0.0.0.0:6379", ":7379", advertised{bus: "db-1:17000", client: "db-1:7000", gossip: "db-1:8000"}},
		{"[fd00::1]:7000", "[::]:16379", "[::]:6379", "[::]:7379", advertised{bus: "[fd00::1]:17000", client: "[fd00::1]:7000", gossip: "[fd00::1]:8000"}},
		{"fd00::1", "[::]:16379", "[::]:6379", "[::]:7379", advertised{bus: "[fd00::1]:16379", client: "[fd00::1]:6379", gossip: "fd00::1"}},
	} {
		c := DefaultConfig()
		c.Advertise, c.GossipAddr = tt.advertise, tt.gossip
		if got, err := c.advertisedAddrs(at(tt.bus), at(tt.client)); err != nil || got != tt.want {
			t.Errorf("%q: %+v, %v", tt.advertise, got, err)
		}
	}

	c := DefaultConfig()
	c.GossipAddr = ":7379"
	got, err := c.advertisedAddrs(at("[::]:16379"), at("[::]:6379"))
	if err != nil { // a machine without a network
		if !strings.Contains(err.Error(), "advertise") {
			t.Error(err)
		}
		return
	}
	ip := net.ParseIP(got.guessed)
	if ip == nil || ip.IsLoopback() || ip.IsUnspecified() || got.gossip != got.guessed ||
		got.bus != net.JoinHostPort(got.guessed, "16379") || got.client != net.JoinHostPort(got.guessed, "6379") {
		t.Errorf("%+v", got)
	}
}

// Nodes find each other at the addresses that are advertised.
func TestAdvertisedNodesMeet(t *testing.T) {
	defer goneInTheEnd(t)
	cfg := memberConfig(t, t.TempDir(), "a")
	cfg.Advertise = "localhost"
	a, err := Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	b := openMember(t, "b", a.gossipAddr())
	defer b.Close()
	resptest.WaitFor(t, "b is in", func() bool { return b.cluster.entry.entered.Load() })
	if m, _ := b.cluster.members.Node("a"); !strings.HasPrefix(m.BusAddr, "localhost:") || !strings.HasPrefix(m.ClientAddr, "localhost:") {
		t.Errorf("b knows %+v", m)
	}
}

func TestDerivedAddressesStayOnThisMachineUnlessAskedFor(t *testing.T) {
	for _, tt := range []struct {
		name        string
		change      func(*Config)
		bus, gossip string
		keeps       bool
	}{
		{"loopback", func(*Config) {}, "127.0.0.1:16379", "127.0.0.1:7379", false},
		{"every interface", func(c *Config) { c.Addr = ":6379" }, "127.0.0.1:16379", "127.0.0.1:7379", true},
		{"one interface", func(c *Config) { c.Addr, c.RequirePass = "10.0.0.5:6379", "x" }, "127.0.0.1:16379", "127.0.0.1:7379", true},
		{"a host", func(c *Config) { c.Addr = "db-1:0" }, "127.0.0.1:0", "127.0.0.1:0", true},
		{"IPv6", func(c *Config) { c.Addr = "[::1]:6379" }, "[::1]:16379", "[::1]:7379", false},
		{"a key", func(c *Config) { c.Addr, c.ClusterKey = ":6379", "sixteen bytes or more" }, ":16379", ":7379", false},
		{"unprotected", func(c *Config) { c.Addr, c.ProtectedMode = ":6379", false }, "127.0.0.1:16379", "127.0.0.1:7379", true},
		{"join", func(c *Config) { c.Addr, c.Join = ":6379", []string{"a"} }, ":16379", ":7379", false},
		{"with others", func(c *Config) { c.Addr, c.BootstrapExpect = ":6379", 3 }, ":16379", ":7379", false},
		{"one given", func(c *Config) { c.Addr, c.BusAddr = ":6379", "127.0.0.1:5" }, "127.0.0.1:5", ":7379", false},
	} {
		c := DefaultConfig()
		tt.change(&c)
		c.EnsureDefaults()
		if c.BusAddr != tt.bus || c.GossipAddr != tt.gossip || c.keepsToLoopback != tt.keeps {
			t.Errorf("%s: bus %s, gossip %s, kept %v", tt.name, c.BusAddr, c.GossipAddr, c.keepsToLoopback)
		}
	}
}
