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
		"gossip addresses of nodes whose cluster this one joins, its own may be among them; without it, a new directory founds a cluster")
	add("bootstrap-expect", settings.OptionalCount(&cfg.BootstrapExpect),
		"found a cluster with so many nodes, all started with this number and --join, once they have found each other; a cluster that is there is joined")
	choice("role", &cfg.Role,
		"store = holds a share of the data; proxy = routes for its clients and holds none; witness = a proxy that takes part in agreeing on the placement, so that two stores go on when one of the three is away")
	choice("route", &cfg.Route,
		"what clients get for keys of other nodes: forward = the answer; redirect = MOVED, as from Redis Cluster; RING ROUTE changes it for a connection")
	add("backups", settings.OptionalCount(&cfg.Backups),
		"copies of each key beside the primary, each at another node; of the cluster that this node founds: RING BACKUPS changes it later")
	add("recreate-after", settings.Duration(&cfg.RecreateAfter),
		"how long a range may have no copy left before it is made anew, empty, for those who use Ringside as a cache; 0 = never: its keys are refused until a copy is back, or RING RECREATE")
	add("rereplicate-after", settings.Duration(&cfg.RereplicateAfter),
		"how long a node may be away before others get copies in its place")
	add("forward-timeout", settings.Duration(&cfg.ForwardTimeout),
		"how long a request waits for other nodes at most, as while a node has just died; then the client gets an error that says what is known")
	add("min-in-sync", settings.Count(&cfg.MinInSync),
		"how many nodes, the primary included, must have a key's range for a write to be taken; with fewer it is refused with NOREPLICAS")
	add("scrub-interval", settings.Duration(&cfg.ScrubInterval),
		"in how much time a node compares all that it serves with the copies of its backups, a little at a time, and reads what its disk has; what differs or is damaged is copied anew; 0 = only by RING SCRUB")
	add("cluster", settings.Text(&cfg.Cluster, "NAME"),
		"name of the cluster; nodes of another are refused")
	add("cluster-key", settings.Text(&cfg.ClusterKey, "KEY"),
		"secret that every node must prove, 16 bytes or more; traffic between nodes is encrypted with it; needed for nodes of other hosts (default: nodes of one machine prove --requirepass)", settings.Secret())
	add("bus-addr", settings.Text(&cfg.BusAddr, "host:port"),
		"where other nodes connect (default: the host of --addr, its port + 10000; 127.0.0.1 if nothing of a cluster is set and no --cluster-key)")
	add("gossip-addr", settings.Text(&cfg.GossipAddr, "host:port"),
		"where nodes find each other, TCP and UDP (default: as --bus-addr, the port of --addr + 1000)")
	add("advertise", settings.Text(&cfg.Advertise, "host[:port]"),
		"where others reach this node; the port is that for clients, and + 10000 and + 1000 are those for nodes (default: where it listens)")
	add("weight", settings.Number(&cfg.Weight),
		"share of this node, relative to the others'")
	yesNo("leave-on-term", &cfg.LeaveOnTerm,
		"on SIGTERM hand all data to the other nodes and leave the cluster; no = keep data and place")
	add("leave-timeout", settings.Duration(&cfg.LeaveTimeout),
		"how long that may take; what has stayed by then stays, and the exit code is 1")

	s.Group("Strategy")
	choice("strategy", &cfg.Strategy,
		"how keys are placed; fixed when the directory is created")
	choice("hash", &cfg.Hash,
		"native = the strategy's own hash; slot = Redis Cluster slots; fixed when the directory is created")
	add("mask", settings.Text(&cfg.Mask, "hex"),
		"buckets: hashmask that a cluster begins with (default: the cluster's; 00FF for a new one)")
	add("points", settings.OptionalCount(&cfg.Points),
		"ketama: points of a node of mean weight, a multiple of 4 (default: the cluster's; 160 for a new one)")
	choice("ketama-rule", &cfg.KetamaRule,
		"ketama: whose rounding of points to follow (default: the cluster's; libketama for a new one)")
	add("vnodes", settings.OptionalCount(&cfg.VNodes),
		"vnode: points of a node of weight 1 (default: the cluster's; 4 for a new one)")
	add("pin", settings.Text(&cfg.Pin, "hash,…"),
		"vnode: points of this node that are picked by hand, in the place of its own ones; +hash,… beside them. Hashes are signed or unsigned, or hexadecimal after 0x")
}
