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
