package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/internal/peerkey"
)

// Errors of a node that does not fit the cluster that it was started for, or its
// directory.
var (
	// ErrLoneData says that a node was to join a cluster with data of its own, which
	// would be lost.
	ErrLoneData = errors.New("the directory holds the data of a node that was alone")
	// ErrOtherCluster says that the directory belongs to another cluster than the one
	// that was named.
	ErrOtherCluster = errors.New("the directory belongs to another cluster")
	// ErrOtherRole says that the directory is one of a store, and was to be a node's without data.
	ErrOtherRole = errors.New("the directory holds a store")
	// ErrCopy says that the directory is a copy of that of a node that runs.
	ErrCopy = errors.New("a node runs already from the original of this directory")
	// ErrIDInUse says that another process runs as the node.
	ErrIDInUse = errors.New("a node with this id runs already")
	// ErrSuperseded says that the cluster knows of a later start of the node.
	ErrSuperseded = errors.New("a later start of this node is registered: another process has its id, or its directory is a copy, or was copied; " +
		"keep one of the two, and start the other with an empty directory and another id")
	// ErrRefused says that the cluster does not take the node in.
	ErrRefused = errors.New("the cluster refuses this node")
)

// Bounds of the questions whether a process with this node's id runs.
const (
	lookTimeout = 2 * time.Second // to the cluster, where one may run
	copyTimeout = 2 * time.Second // to one of these addresses
)

// refuseSecond keeps two processes from running as one node, and from voting as one server: it fails if a
// node of this id and cluster answers at another address. It must be called before the name of the node
// is in gossip and before the Raft group is opened.
//
// A directory that is not a copy, with the address of its last start, needs no question: a process that
// uses it holds its lock. For other directories, the nodes of the cluster are asked where the id was seen.
// A process that does not answer there, cut off or stopped, ends when it hears of this start: see
// ErrSuperseded.
func (c *cluster) refuseSecond(m members.Config) error {
	r := &c.n.run
	var at []string
	if r.Copied && r.Bus != "" {
		at = append(at, r.Bus) // where the original was reached when the copy was made
	}
	if r.Copied || r.Bus != c.advertisedBus {
		ctx, cancel := context.WithTimeout(c.ctx, lookTimeout)
		seen, err := members.Look(ctx, m)
		cancel()
		if err != nil {
			return fmt.Errorf("%w; gossip-addr is where this node gossips", err)
		}
		for _, other := range seen.Nodes {
			if other.ID == c.n.id && other.Status != members.Left {
				at = append(at, other.BusAddr)
			}
		}
	}
	for i, addr := range at {
		if addr == c.advertisedBus || slices.Contains(at[:i], addr) || !answersAs(c, addr) {
			continue
		}
		if r.Copied {
			return fmt.Errorf("%w: %s is a copy of its directory, and the node answers at %s: stop it there first, or start a new node with an empty directory",
				ErrCopy, c.n.cfg.Dir, addr)
		}
		return fmt.Errorf("%w: node %q of this cluster answers at %s: stop it there first, or start this one with another id and an empty directory",
			ErrIDInUse, c.n.id, addr)
	}
	return nil
}

// answersAs reports whether a node with the id of c, of its cluster, answers at a bus address.
func answersAs(c *cluster, addr string) bool {
	ctx, cancel := context.WithTimeout(c.ctx, copyTimeout)
	defer cancel()
	conn, _, err := c.bus.Dial(ctx, addr, c.n.id, bus.Ask)
	if err == nil { // a bus refuses a peer of its own name
		_ = conn.Close()
		return false
	}
	return errors.Is(err, bus.ErrSameID) && !errors.Is(err, bus.ErrCluster) && !errors.Is(err, bus.ErrGeneration)
}

// refuseAlone refuses to start a node without ports if other nodes belong to its cluster: it would wait for
// them for ever.
func (c *cluster) refuseAlone() error {
	voters := c.table.Voters()
	if !c.n.cfg.staysAlone() || !c.table.Known() || len(voters) == 1 && c.table.Votes() && len(c.table.State().MembersOf()) <= 1 {
		return nil
	}
	return &Fault{"bus-addr", fmt.Sprintf("off, but %s belongs to a cluster of several nodes; set bus-addr and gossip-addr", c.n.cfg.Dir)}
}

// refuseNewKey refuses to start a node with a key of its own, made just now, if other nodes belong to its cluster:
// they do not know the key, and would not let the node in.
func refuseNewKey(c *cluster, had bool) error {
	if c.n.secret != secretFile || had || c.table.Servers() <= 1 {
		return nil
	}
	_ = os.Remove(filepath.Join(c.n.cfg.Dir, peerkey.Name)) // the next start says the same
	return c.n.cfg.keyMissing()
}

// refuseLoneData keeps data that belongs to no cluster from being merged into one, or
// from being lost there.
func (c *cluster) refuseLoneData() error {
	cfg := &c.n.cfg
	keys := c.n.store.Keys()
	if keys == 0 || c.entry.foundsAlone() || c.entry.membership.dataIsFromCluster(c.n.id) || c.table.Known() {
		return nil
	}
	flag := "join"
	if len(cfg.Join) == 0 {
		flag = "bootstrap-expect"
	}
	return fmt.Errorf("%w: %s has %d keys; to keep them, start this node without %s and let the others join it, or name another directory",
		ErrLoneData, cfg.Dir, keys, flag)
}

// watchFatal ends the node when gossip says that it should not go on. A node of
// several is no worse off if strangers have taken the addresses that it was told to
// join: it goes on with its own.
func (c *cluster) watchFatal() {
	select {
	case err := <-c.members.Fatal():
		if errors.Is(err, members.ErrStranger) && c.entry.entered.Load() && c.countOthers() > 0 {
			c.n.cfg.Logger.Error("the nodes at the addresses of --join belong to another cluster; this node continues with its own", "node", c.n.id, "err", err)
			return
		}
		if c.n.cfg.askedStrategy == "" && c.entry.generation() == 0 {
			err = fmt.Errorf("%w; a node without --strategy takes that of the cluster: start it again", err)
		}
		c.n.finish(err)
	case <-c.ctx.Done():
	}
}

// ErrStalled ends a node whose disk has not answered for minutes while that of another node works.
// Until then the node waits: see package table.
var ErrStalled = errors.New("the disk with the table of the cluster has not answered for 2 minutes, and that of another node does: check the disk, then start the node again")

// stalled is called by the table, on a goroutine of its own.
func (c *cluster) stalled() { c.n.finish(ErrStalled) }

// countOthers counts the nodes that the table has beside this one.
func (c *cluster) countOthers() int {
	n := 0
	for _, node := range c.table.State().Nodes() {
		if node.ID != c.n.id && node.State != table.Gone {
			n++
		}
	}
	return n
}
