package node

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/internal/lastrun"
)

// clone starts a copy of the directory of a running node, as the same node at another address.
func (c *virtualCluster) clone(id, name string, join ...string) {
	c.t.Helper()
	v := c.nodes[id]
	dir := c.t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(v.dir)); err != nil {
		c.t.Fatal(err)
	}
	// The files of the store lie in memory, so the copy is not found to be one.
	last, err := lastrun.Load(dir)
	if err != nil {
		c.t.Fatal(err)
	}
	last.Copied, last.Apart, last.Lost = true, true, true
	if err := last.Save(dir); err != nil {
		c.t.Fatal(err)
	}
	c.nodes[name] = &virtualNode{
		id: name, as: id, ip: "10.0.0.77", dir: dir,
		fs: v.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: c.rnd}),
	}
	c.start(name, join...)
}

// noLeader checks for some time that none of the nodes leads, while another one goes on to.
func (c *virtualCluster) noLeader(d time.Duration, leader string, ids ...string) {
	c.t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		for _, id := range ids {
			if _, leads := c.nodes[id].cluster.table.Leader(); leads {
				c.t.Fatalf("%s leads beside %s", id, leader)
			}
		}
	}
	c.decides(leader)
}

// decides checks that a node has something decided.
func (c *virtualCluster) decides(id string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	if _, err := c.nodes[id].cluster.table.Apply(ctx, &table.SetBackups{Backups: 1}); err != nil {
		c.t.Fatalf("%s: %v", id, err)
	}
}

// A copy of the directory of a node that runs is a second server of the same id. It does not
// vote before it is registered, and its original does not afterwards: whatever the network
// does, there are no two majorities.
func TestCloneOfVoterElectsNoSecondLeader(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		leader := c.leader()
		var others []string
		for _, id := range c.running() {
			if id != leader {
				others = append(others, id)
			}
		}
		third, cloned := others[0], others[1]
		const clone = "clone"
		// The copy is with the third node, its original with the leader.
		c.net.Move(1, c.nodes[third].ip, "10.0.0.77")
		c.clone(cloned, clone, third)
		c.noLeader(20*time.Second, leader, third, clone)
		// The original alone is cut off: the copy is registered.
		c.net.Move(1, c.nodes[cloned].ip)
		c.net.Move(0, c.nodes[third].ip, "10.0.0.77")
		later := c.nodes[clone].cluster
		c.within(time.Minute, "the copy is registered", func() bool {
			return c.nodes[third].cluster.registered(cloned) == later.incarnation && later.registered(cloned) == later.incarnation
		})
		if c.nodes[cloned].Err() != nil {
			t.Fatal("the original knows of its copy")
		}
		// Both again, on different sides. The one with the copy has a majority.
		leader = c.leaderAmong(leader, third)
		if leader == third {
			third = c.other(leader, cloned, clone)
		}
		c.net.Move(0, c.nodes[leader].ip, "10.0.0.77")
		c.net.Move(1, c.nodes[third].ip, c.nodes[cloned].ip)
		c.noLeader(20*time.Second, leader, third, cloned)
		c.net.Move(0, c.nodes[third].ip, c.nodes[cloned].ip)
		c.within(time.Minute, "the original ends", func() bool { return c.nodes[cloned].Err() != nil })
		c.decides(third)
		c.decides(clone)
		c.close()
	})
}

// leaderAmong waits until one of some nodes leads.
func (c *virtualCluster) leaderAmong(ids ...string) (leader string) {
	c.t.Helper()
	c.within(time.Minute, "there is a leader", func() bool {
		for _, id := range ids {
			if _, leads := c.nodes[id].cluster.table.Leader(); leads {
				leader = id
			}
		}
		return leader != ""
	})
	return leader
}

// other returns a node that is none of some.
func (c *virtualCluster) other(ids ...string) string {
	for id := range c.nodes {
		known := false
		for _, not := range ids {
			known = known || id == not
		}
		if !known {
			return id
		}
	}
	return ""
}
