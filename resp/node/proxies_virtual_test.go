package node

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/status"
)

// withProxy starts a store a and a proxy p.
func withProxy(t *testing.T, seed uint64) *virtualCluster {
	c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
		if cfg.ID == "p" {
			cfg.Role = RoleProxy
		}
	})
	c.start("a")
	c.start("p", "a")
	c.write("p", someKeys(3), 1)
	c.within(time.Minute, "the proxy has entered", func() bool { return c.nodes["p"].cluster.entry.entered.Load() })
	return c
}

// lists reports whether a's report or gossip knows p, other than as one that has left.
func (c *virtualCluster) lists(id string) bool {
	a := c.nodes["a"]
	isIt := func(n status.Node) bool { return n.ID == id }
	m, ok := a.cluster.members.Node(id)
	reported := slices.ContainsFunc(a.cluster.status.reportNodes(a.cluster.table.State()), isIt)
	return reported || ok && m.Status.String() != status.Left
}

// told returns the nodes that clients of a hear of.
func (c *virtualCluster) told() (ids []string) {
	reply := c.nodes["a"].Do(c.t.Context(), "RING", "NODES")
	nodes, err := reply.List()
	if err != nil {
		c.t.Fatal(err)
	}
	for _, node := range nodes {
		fields, _ := node.Map()
		id, _ := fields["id"].Text()
		ids = append(ids, id)
	}
	return ids
}

// A client would connect to a node that is away, and log in there with its password, though another program may have
// the address by then. A node that the placement names stays: it is expected back.
func TestClientsHearOnlyOfNodesThatAreThereOrHaveData(t *testing.T) {
	for name, end := range map[string]func(c *virtualCluster, id string){"stopped": (*virtualCluster).stop, "killed": (*virtualCluster).crash} {
		t.Run(name, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := withProxy(t, seed)
				c.start("b", "a")
				has := func(ids ...string) func() bool { return func() bool { return slices.Equal(c.told(), ids) } }
				c.within(time.Minute, "all nodes are listed", has("a", "b", "p"))
				c.within(time.Minute, "the placement names b", func() bool { return names(c, "b") })
				end(c, "p")
				c.within(20*time.Second, "a proxy that was "+name+" is not listed", has("a", "b"))
				c.crash("b")
				c.within(20*time.Second, "b is seen to be away", func() bool { return !c.nodes["a"].cluster.alive("b") })
				if told := c.told(); names(c, "b") && !slices.Contains(told, "b") {
					t.Errorf("a node with data that was killed: the nodes are %q", told)
				}
				c.start("p", "a")
				c.start("b", "a")
				c.within(time.Minute, "all nodes are listed again", has("a", "b", "p"))
				c.close()
			})
		})
	}
}

// names reports whether the placement of a names a node.
func names(c *virtualCluster, id string) bool {
	for row := range c.nodes["a"].cluster.table.State().Placement().Rows() {
		if row.Holds(id) {
			return true
		}
	}
	return false
}

func TestProxyLeavesWhenItStops(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := withProxy(t, seed)
		if !c.lists("p") {
			t.Error("a running proxy is not listed")
		}
		c.stop("p")
		time.Sleep(10 * time.Second)
		if c.lists("p") {
			t.Error("a stopped proxy is listed after 10 s")
		}
		c.start("p") // finds the cluster by what its directory says
		c.write("p", someKeys(3), 2)
		if !c.lists("p") {
			t.Error("a proxy that was started again is not listed")
		}
		c.close()
	})
}

// TestConnectionsToNodesThatLeftAreClosed has proxies come and go, each under a name of its own, as beside the pods of an
// application.
func TestConnectionsToNodesThatLeftAreClosed(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			if cfg.ID != "a" && cfg.ID != "b" {
				cfg.Role = RoleProxy
			}
		})
		c.start("a")
		c.start("b", "a")
		links := func(of string) []string {
			cl := c.nodes[of].cluster
			cl.mu.Lock()
			defer cl.mu.Unlock()
			return slices.Sorted(maps.Keys(cl.links))
		}
		for i := range 5 {
			id := fmt.Sprint("p", i)
			c.start(id, "a")
			c.write(id, someKeys(3), i)
			c.within(time.Minute, "a has a link to the proxy", func() bool { return slices.Equal(links("a"), []string{"b", id}) })
			if i%2 == 0 {
				c.stop(id)
				c.within(time.Minute, "the link to the proxy is closed", func() bool { return slices.Equal(links("a"), []string{"b"}) })
			} else {
				c.crash(id)
				c.within(3*proxyForget, "the link to the dead proxy is closed", func() bool { return slices.Equal(links("a"), []string{"b"}) })
			}
		}
		c.start("p0", "a") // again, under its old name
		c.write("p0", someKeys(3), 1)
		c.within(time.Minute, "b has a link to the proxy again", func() bool { return slices.Equal(links("b"), []string{"a", "p0"}) })
		c.close()
	})
}

func TestDeadProxyIsForgotten(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := withProxy(t, seed)
		c.crash("p")
		time.Sleep(proxyForget / 2)
		if !c.lists("p") {
			t.Error("a dead proxy is not listed any more, too early")
		}
		time.Sleep(proxyForget)
		if c.lists("p") {
			t.Error("a dead proxy is still listed")
		}
		c.start("p", "a")
		c.write("p", someKeys(3), 2)
		c.close()
	})
}

// A proxy that was cut off for so long that it was forgotten hears of that, ends, and enters
// again when it is started again.
func TestForgottenProxyEndsOnceItIsReachedAgain(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := withProxy(t, seed)
		c.net.Move(1, c.nodes["p"].ip)
		c.within(2*proxyForget, "the proxy is forgotten", func() bool { return !c.lists("p") })
		c.net.Move(0, c.nodes["p"].ip)
		c.within(2*time.Minute, "the proxy ends", func() bool { return errors.Is(c.nodes["p"].Err(), ErrForgotten) })
		c.stop("p")
		c.start("p", "a")
		c.write("p", someKeys(3), 2)
		c.close()
	})
}
