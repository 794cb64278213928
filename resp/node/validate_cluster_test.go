package node

import (
	"strings"
	"testing"
)

func TestClusterFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string // empty: none
	}{
		"alone":               {func(*Config) {}, ""},
		"on loopback":         {func(c *Config) { c.Join = []string{"127.0.0.1:8001"} }, ""},
		"every interface":     {func(c *Config) { c.Addr, c.Join = ":7000", []string{"a:8001"} }, "bus-addr: \":17000\" is every interface"},
		"gossip everywhere":   {func(c *Config) { c.BusAddr, c.GossipAddr = "127.0.0.1:1", "0.0.0.0:2" }, "gossip-addr: \"0.0.0.0:2\" is every interface"},
		"no port left":        {func(c *Config) { c.Addr, c.Join = "127.0.0.1:60000", []string{"a:8001"} }, "bus-addr: missing"},
		"open to other hosts": {func(c *Config) { c.BusAddr = "10.0.0.1:17000" }, "set cluster-key"},
		"with a key": {func(c *Config) {
			c.BusAddr, c.GossipAddr, c.ClusterKey = "10.0.0.1:17000", "10.0.0.1:8000", "sixteen bytes or more"
		}, ""},
		"unprotected":          {func(c *Config) { c.BusAddr, c.GossipAddr, c.ProtectedMode = "10.0.0.1:17000", "10.0.0.1:8000", false }, ""},
		"a short key":          {func(c *Config) { c.ClusterKey = "short" }, "cluster-key: 5 bytes"},
		"no weight":            {func(c *Config) { c.Weight = -1 }, "weight: -1"},
		"no address":           {func(c *Config) { c.BusAddr = "17000" }, "bus-addr: \"17000\""},
		"a name without bytes": {func(c *Config) { c.BusAddr, c.Cluster = "127.0.0.1:1", "" }, "cluster: 0 bytes"},
	} {
		c := DefaultConfig()
		c.Dir = t.TempDir()
		tt.change(&c)
		err := c.Validate()
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: %v, want %s", name, err, tt.want)
		case err != nil && strings.Contains(err.Error(), "sixteen"):
			t.Errorf("%s: the key is shown", name)
		}
	}
}
