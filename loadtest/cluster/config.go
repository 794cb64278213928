package cluster

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A Config says what cluster to run. Only Contestant and Nodes must be given.
//
// All nodes run on one machine, mostly in one process, so that they get far less memory than
// a node of its own would: 16 MiB of cache, 16 MiB of block cache and memtables of
// 4 MiB each, which is some 60 MiB a node when they are full. Contestants that are compared
// must have the same.
type Config struct {
	// Contestant is a strategy with its setting, as [ParseContestant] reads it.
	Contestant string
	// Nodes is how many there are at first; Backups how many copies of each key beside the
	// primary.
	Nodes, Backups int
	// Hash is native (the default) or slot; Fsync always, everysec (the default) or no.
	Hash, Fsync string
	// RereplicateAfter is how long a node may be away before others get copies in its
	// place; default 3 s. A cluster that serves somebody waits longer: 30 s.
	RereplicateAfter time.Duration
	// Processes makes each node a process of its own, which Binary, by default the one that
	// runs, becomes when it is told to serve.
	Processes bool
	Binary    string
	// Dir is where the fleet makes its temporary directory; default: that of the system.
	Dir string
	// Password is what clients must give; empty: none.
	Password string
	// Redirect has nodes send clients on to a key's own node, where they would answer for
	// it themselves.
	Redirect bool
	// Seed is what draws who leaves and who is killed.
	Seed uint64
	// SpareFirst keeps the first node from leaving and from being killed as long as there
	// is another, for clients that go through it alone.
	SpareFirst bool
}

// Defaults of a fleet, where they are not those of a node.
const (
	DefaultRereplicateAfter = 3 * time.Second
	// MostNodes is how many a fleet may have at a time.
	MostNodes = 64
)

// EnsureDefaults fills in what is not set. It is idempotent; [Start] calls it.
func (c *Config) EnsureDefaults() {
	c.Hash = cmp.Or(c.Hash, strategy.Native)
	c.Fsync = cmp.Or(c.Fsync, node.FsyncEverysec)
	c.RereplicateAfter = cmp.Or(c.RereplicateAfter, DefaultRereplicateAfter)
	c.Dir = cmp.Or(c.Dir, os.TempDir())
}

// Validate reports every fault at once.
func (c *Config) Validate() error {
	var faults []error
	of, err := ParseContestant(c.Contestant, "")
	faults = append(faults, err)
	if c.Nodes < 1 || c.Nodes > MostNodes {
		faults = append(faults, fmt.Errorf("cluster: %d nodes are not within 1..%d", c.Nodes, MostNodes))
	}
	if err == nil {
		n := c.node(of.Strategy)
		n.Dir = "fleet" // any will do
		n.EnsureDefaults()
		faults = append(faults, n.Validate())
	}
	if c.Binary != "" && !c.Processes {
		faults = append(faults, errors.New("cluster: a binary is given, and no processes are asked for"))
	}
	return errors.Join(faults...)
}

// node is what all nodes have in common.
func (c *Config) node(of strategy.Config) node.Config {
	n := node.DefaultConfig()
	n.Addr, n.BusAddr, n.GossipAddr, n.HTTPAddr = anyPort, anyPort, anyPort, node.HTTPOff
	n.Strategy, n.Hash, n.Fsync = of.Name, c.Hash, c.Fsync
	switch of.Name {
	case strategy.Buckets:
		n.Mask = fmt.Sprintf("%04X", of.Mask)
	case strategy.Ketama:
		n.Points = of.Points
	case strategy.VNode:
		n.VNodes = of.VNodes
	case strategy.MultiProbe:
		n.Cells.Probes = of.Cells.Probes
	case strategy.LRH:
		n.Cells.Candidates = of.Cells.Candidates
	case strategy.Bounded:
		n.Cells.Slack = of.Cells.Slack
	}
	n.Backups, n.RereplicateAfter, n.RequirePass = c.Backups, c.RereplicateAfter, c.Password
	n.Cache, n.BlockCache, n.MemTableSize = 16<<20, 16<<20, 4<<20
	if c.Redirect {
		n.Route = node.RouteRedirect
	}
	n.ScrubInterval = 0 // it would take what clients could have
	n.SlowlogSlowerThan = -1
	return n
}

// anyPort is a free port of the loopback interface.
const anyPort = "127.0.0.1:0"
