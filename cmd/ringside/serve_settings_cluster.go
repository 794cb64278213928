package main

import (
	"github.com/spf13/pflag"

	"github.com/ringside-kv/ringside/cmd/ringside/settings"
	"github.com/ringside-kv/ringside/resp/node"
)

// clusterSettings are those about other nodes.
func clusterSettings(s *settings.Set, cfg *node.Config, choice func(string, *string, string), yesNo func(string, *bool, string)) {
	add := func(name string, value pflag.Value, usage string, more ...settings.Option) {
		s.Add(name, value, usage, more...)
	}
	s.Group("Cluster")
	add("join", settings.Commas(&cfg.Join, "host:port,…"),
		"gossip addresses of nodes of the cluster to join; the node's own may be among them; without it, a new directory founds a cluster")
	add("bootstrap-expect", settings.OptionalCount(&cfg.BootstrapExpect),
		"number of nodes that found a cluster together, all started with this number and --join; an existing cluster is joined")
	choice("role", &cfg.Role,
		"store = holds a share of the data; proxy = routes requests of its clients and holds no data; witness = a proxy that votes, so that two stores continue when one of the three is away")
	choice("route", &cfg.Route,
		"reply for keys of other nodes: forward = the answer; redirect = MOVED, as from Redis Cluster; RING ROUTE changes it for a connection")
	add("backups", settings.OptionalCount(&cfg.Backups),
		"copies of each key beside the primary, each on another node, if this node founds a cluster; RING BACKUPS changes it later")
	add("databases", settings.Count(&cfg.Databases),
		"numbered databases, for SELECT, if this node founds a cluster; RING DATABASES raises their number later; 1 = none but 0, and nodes of earlier builds may join")
	add("together", settings.Commas(&cfg.Together, "n,…"),
		"databases whose keys are kept together at one place, so that commands on several of their keys work on any number of nodes, if this node founds a cluster; RING DATABASE changes it later")
	add("recreate-after", settings.Duration(&cfg.RecreateAfter),
		"time without any copy after which a range is created again, empty, for use as a cache; 0 = never: its keys are refused until a copy is back, or RING RECREATE")
	add("rereplicate-after", settings.Duration(&cfg.RereplicateAfter),
		"absence of a node after which other nodes get its copies")
	add("forward-timeout", settings.Duration(&cfg.ForwardTimeout),
		"longest time for which a request waits for other nodes, for example after a failure; then the client gets an error with the known outcome")
	add("min-in-sync", settings.Count(&cfg.MinInSync),
		"number of nodes, the primary included, that must have a key's range for a write to be accepted; with fewer it gets NOREPLICAS")
	add("scrub-interval", settings.Duration(&cfg.ScrubInterval),
		"time in which a node compares all its ranges with the copies of its backups, a little at a time; different or damaged copies are copied again; 0 = only on RING SCRUB")
	add("cluster", settings.Text(&cfg.Cluster, "NAME"),
		"name of the cluster; nodes of another cluster are refused")
	add("cluster-key", settings.Text(&cfg.ClusterKey, "KEY"),
		"secret that every node must prove, 16 bytes or more; encrypts the traffic between nodes; required for nodes on other hosts without --cluster-tls-cert (default: nodes of one machine prove --requirepass)", settings.Secret())
	add("cluster-key-accept", settings.Text(&cfg.ClusterKeyAccept, "KEY"),
		"another --cluster-key that other nodes may prove, while the key is being changed node by node", settings.Secret())
	add("cluster-tls-cert", settings.Text(&cfg.ClusterTLSCert, "FILE"),
		"certificate (PEM) that this node shows other nodes; with it, nodes connect to each other through TLS and verify each other's certificates", settings.Files())
	add("cluster-tls-key", settings.Text(&cfg.ClusterTLSKey, "FILE"),
		"key of that certificate (PEM)", settings.Files())
	add("cluster-tls-ca", settings.Text(&cfg.ClusterTLSCA, "FILE"),
		"authorities that sign the certificates of nodes (PEM), one or several; whatever has a certificate of them counts as a node", settings.Files())
	add("cluster-tls-name", settings.Text(&cfg.ClusterTLSName, "NAMES"),
		"names that certificates of nodes must carry, as DNS name or URI (common name if they have neither), separated by commas; * matches anything (default: any name)")
	choice("cluster-tls", &cfg.ClusterTLS,
		"nodes without a certificate: require = refuse them; prefer = accept and dial them, too, while certificates are introduced node by node")
	add("bus-addr", settings.Text(&cfg.BusAddr, "host:port"),
		"address for other nodes (default: the host of --addr, its port + 10000; 127.0.0.1 if no cluster setting, no --cluster-key and no --cluster-tls-cert is set); off, with --gossip-addr off: none, and the node is alone")
	add("gossip-addr", settings.Text(&cfg.GossipAddr, "host:port"),
		"address for gossip between nodes, TCP and UDP (default: as --bus-addr, the port of --addr + 1000)")
	add("advertise", settings.Text(&cfg.Advertise, "host[:port]"),
		"address under which others reach this node; the port is the one for clients, and + 10000 and + 1000 are those for nodes (default: where it listens)")
	add("weight", settings.Number(&cfg.Weight),
		"share of this node, relative to the other nodes")
	add("zone", settings.Text(&cfg.Zone, "NAME"),
		"zone of this node, as a rack or a data center: nodes that may fail together; copies of a key go to different zones while there are enough (default: none)")
	yesNo("leave-on-term", &cfg.LeaveOnTerm,
		"on SIGTERM hand all data to the other nodes and leave the cluster; no = keep data and place")
	add("leave-timeout", settings.Duration(&cfg.LeaveTimeout),
		"time limit of that handover; afterwards the remaining data stays on this node and the exit code is 1")

	s.Group("Strategy")
	choice("strategy", &cfg.Strategy,
		"how keys are placed (default: the cluster's; buckets for a new one); RING STRATEGY changes it")
	choice("hash", &cfg.Hash,
		"how keys are hashed: native = by the hash of --strategy; slot = into Redis Cluster slots; never changes in a cluster (default: the cluster's; native for a new one)")
	add("mask", settings.Text(&cfg.Mask, "hex"),
		"buckets: hashmask of a new cluster (default: the cluster's; 00FF for a new one)")
	add("points", settings.OptionalCount(&cfg.Points),
		"ketama: points of a node of mean weight, a multiple of 4 (default: the cluster's; 160 for a new one)")
	choice("ketama-rule", &cfg.KetamaRule,
		"ketama: rounding of points (default: the cluster's; libketama for a new one)")
	add("vnodes", settings.OptionalCount(&cfg.VNodes),
		"vnode: points of a node of weight 1 (default: the cluster's; 4 for a new one)")
	addCellSettings(s, &cfg.Cells, func(standard string) string {
		return " (default: the cluster's; " + standard + " for a new one)"
	})
	add("pin", settings.Text(&cfg.Pin, "hash,…"),
		"vnode: points of this node picked by hand, which replace its own ones; +hash,… adds to them. Hashes are signed or unsigned, or hexadecimal after 0x")
}
