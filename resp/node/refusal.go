package node

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
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
	// ErrRefused says that the cluster does not take the node in.
	ErrRefused = errors.New("the cluster refuses this node")
)

// refuseLoneData keeps data that belongs to no cluster from being merged into one, or
// from being lost there.
func (c *cluster) refuseLoneData() error {
	cfg := &c.n.cfg
	keys := c.n.store.Keys()
	if keys == 0 || c.foundsAlone() || c.belonging.ofOthers(c.n.id) || c.table.Known() {
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
		if errors.Is(err, members.ErrStranger) && c.entered.Load() && c.others() > 0 {
			c.n.cfg.Logger.Error("who answers at the addresses to join is not of this node's cluster; it goes on with its own", "node", c.n.id, "err", err)
			return
		}
		c.n.finish(err)
	case <-c.ctx.Done():
	}
}

// ErrStalled ends a node whose disk does not answer: if it leads, nobody else would do it
// as long as it is there.
var ErrStalled = errors.New("the disk with the table of the cluster has not answered for 10 s")

// stalled is called by the table, on a goroutine of its own.
func (c *cluster) stalled() { c.n.finish(ErrStalled) }

// others counts the nodes that the table has beside this one.
func (c *cluster) others() int {
	n := 0
	for _, node := range c.table.State().Nodes() {
		if node.ID != c.n.id && node.State != table.Gone {
			n++
		}
	}
	return n
}
