package node

import (
	"strings"
	"testing"
	"time"
)

func TestClusterFaults(t *testing.T) {
	cert, key := selfSigned(t)
	for name, tt := range map[string]struct {
		change func(*Config)
		want   string // empty: none
	}{
		"alone":                     {func(*Config) {}, ""},
		"on loopback":               {func(c *Config) { c.Join = []string{"127.0.0.1:8001"} }, ""},
		"every interface":           {func(c *Config) { c.Addr, c.Join = ":7000", []string{"a:8001"} }, "bus-addr: \":17000\", which follows from addr, can be reached from other hosts: set cluster-key"},
		"gossip everywhere":         {func(c *Config) { c.BusAddr, c.GossipAddr = "127.0.0.1:1", "0.0.0.0:2" }, "gossip-addr: \"0.0.0.0:2\" can be reached from other hosts: set cluster-key"},
		"no port left":              {func(c *Config) { c.Addr, c.Join = "127.0.0.1:60000", []string{"a:8001"} }, "bus-addr: none follows from addr \"127.0.0.1:60000\": port + 10000 is above 65535; set bus-addr"},
		"open to other hosts":       {func(c *Config) { c.BusAddr = "10.0.0.1:17000" }, "set cluster-key"},
		"on every interface alone":  {func(c *Config) { c.Addr = ":7000" }, ""},
		"a password alone":          {func(c *Config) { c.Addr, c.RequirePass = "10.0.0.1:7000", "secret" }, ""},
		"a port for gossip taken":   {func(c *Config) { c.GossipAddr = "127.0.0.1:8379" }, "gossip-addr: \"127.0.0.1:8379\" takes the port that http-addr"},
		"one port for both":         {func(c *Config) { c.BusAddr, c.GossipAddr = "127.0.0.1:5", "127.0.0.1:5" }, "gossip-addr: \"127.0.0.1:5\" takes the port that bus-addr"},
		"expecting itself":          {func(c *Config) { c.BootstrapExpect = 1 }, "bootstrap-expect: 1 would found"},
		"expecting fewer than none": {func(c *Config) { c.BootstrapExpect = -1 }, "bootstrap-expect: -1 is out of bounds"},
		"a proxy that founds":       {func(c *Config) { c.BootstrapExpect, c.Role = 3, RoleProxy }, "bootstrap-expect: only stores found a cluster"},
		"a host to join":            {func(c *Config) { c.Join = []string{"peers.example", "::1", "[::1]", "[::1]:5"} }, ""},
		"nothing to join":           {func(c *Config) { c.Join = []string{":7379"} }, "join: \":7379\": use host:port"},
		"port 0 to join":            {func(c *Config) { c.Join = []string{"a:0"} }, "join: \"a:0\": gossip needs a port"},
		"another role":              {func(c *Config) { c.Role = "backup" }, "role: \"backup\": use store, proxy or witness"},
		"another route":             {func(c *Config) { c.Route = "moved" }, "route: \"moved\": use forward or redirect"},
		"advertised everywhere":     {func(c *Config) { c.Advertise = "0.0.0.0" }, "advertise: \"0.0.0.0\": names no host"},
		"an advertised host":        {func(c *Config) { c.Advertise = "db-1.example" }, ""},
		"an advertised port":        {func(c *Config) { c.Advertise = "[::1]:7000" }, ""},
		"advertised too high":       {func(c *Config) { c.Advertise = "db:60000" }, "advertise: \"db:60000\": port + 10000"},
		"advertised port 0":         {func(c *Config) { c.Advertise = "db:0" }, "advertise: \"db:0\": no node can connect to port 0"},
		"points of another":         {func(c *Config) { c.Strategy, c.Points = StrategyBuckets, 40 }, "points: belongs to strategy ketama, not to buckets"},
		"bad points":                {func(c *Config) { c.Strategy, c.Points = StrategyKetama, 3 }, "points: "},
		"bad vnodes":                {func(c *Config) { c.Strategy, c.VNodes = StrategyVnode, -3 }, "vnodes: "},
		"bad slack":                 {func(c *Config) { c.Strategy, c.Cells.Slack = "bounded", 11 }, "slack: bad slack: 11 is not from 0.001 to 10"},
		"probes of another":         {func(c *Config) { c.Strategy, c.Cells.Probes = StrategyBuckets, 5 }, "probes: belongs to strategy multiprobe, not to buckets"},
		"bad mask":                  {func(c *Config) { c.Mask = "0102" }, "mask: "},
		"bad rule":                  {func(c *Config) { c.Strategy, c.KetamaRule = StrategyKetama, "x" }, "ketama-rule: "},
		"bad pin":                   {func(c *Config) { c.Strategy, c.Pin = StrategyVnode, "x" }, "pin: "},
		"a node's pin":              {func(c *Config) { c.Strategy, c.Pin = StrategyVnode, "a=5" }, "pin: names a node"},
		"pins":                      {func(c *Config) { c.Strategy, c.Pin = StrategyVnode, "+5,-7,0xff" }, ""},
		"no time to leave":          {func(c *Config) { c.LeaveTimeout = 0 }, "leave-timeout: 0 leaves no time"},
		"with a key": {func(c *Config) {
			c.BusAddr, c.GossipAddr, c.ClusterKey = "10.0.0.1:17000", "10.0.0.1:8000", "sixteen bytes or more"
		}, ""},
		"unprotected":          {func(c *Config) { c.GossipAddr, c.ProtectedMode = "10.0.0.1:8000", false }, "gossip-addr: \"10.0.0.1:8000\" can be reached from other hosts: set cluster-key"},
		"TLS and no key":       {func(c *Config) { c.TLSCert, c.TLSKey, c.Join = cert, key, []string{"127.0.0.1:8001"} }, "cluster-key: missing"},
		"TLS alone":            {func(c *Config) { c.TLSCert, c.TLSKey = cert, key }, ""},
		"a short key":          {func(c *Config) { c.ClusterKey = "short" }, "cluster-key: 5 bytes"},
		"a short other key":    {func(c *Config) { c.ClusterKey, c.ClusterKeyAccept = testKey, "short" }, "cluster-key-accept: 5 bytes"},
		"only another key":     {func(c *Config) { c.ClusterKeyAccept = testKey }, "cluster-key-accept: another key is accepted beside"},
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

func TestScrubIntervalIsNeverOrLongEnough(t *testing.T) {
	for d, right := range map[time.Duration]bool{
		0: true, time.Minute: true, 24 * time.Hour: true, 365 * 24 * time.Hour: true,
		-1: false, time.Second: false, 366 * 24 * time.Hour: false,
	} {
		c := DefaultConfig()
		c.ScrubInterval = d
		err := c.Validate()
		if right != (err == nil) || err != nil && !strings.Contains(err.Error(), "scrub-interval") {
			t.Errorf("%v: %v", d, err)
		}
	}
}
