package node

import (
	"errors"
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
