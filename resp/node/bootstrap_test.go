package node

import (
	"fmt"
	"net"
	"testing"
)

// freeGossip are addresses where nobody listens, for nodes that are all told the same.
func freeGossip(t *testing.T, n int) []string {
	t.Helper()
	var addrs []string
	var listeners []net.Listener
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners = append(listeners, l)
		addrs = append(addrs, l.Addr().String())
	}
	for _, l := range listeners {
		_ = l.Close()
	}
	return addrs
}

// A crew are nodes that are all told the same, as the pods of a StatefulSet are.
type crew struct {
	t      *testing.T
	expect int
	addrs  []string
	dirs   []string
	nodes  []*Node // nil: not running
}

func newCrew(t *testing.T, n, expect int) *crew {
	c := &crew{t: t, expect: expect, addrs: freeGossip(t, n), nodes: make([]*Node, n)}
	for range n {
		c.dirs = append(c.dirs, t.TempDir())
	}
	return c
}

func (c *crew) config(i int) Config {
	cfg := memberConfig(c.t, c.dirs[i], fmt.Sprint("n", i), c.addrs...)
	cfg.GossipAddr, cfg.BootstrapExpect = c.addrs[i], c.expect
	return cfg
}

func (c *crew) start(which ...int) {
	c.t.Helper()
	for _, i := range which {
		n, err := Open(c.config(i))
		if err != nil {
			c.t.Fatal(err)
		}
		c.nodes[i] = n
	}
}

func (c *crew) stop(which ...int) {
	c.t.Helper()
	for _, i := range which {
		if err := c.nodes[i].Close(); err != nil {
			c.t.Error(err)
		}
		c.nodes[i] = nil
	}
}

func (c *crew) close() {
	for i, n := range c.nodes {
		if n != nil {
			c.stop(i)
		}
	}
}

// generation is that of the running nodes, once all of them are in a cluster.
func (c *crew) generation() uint64 {
	c.t.Helper()
	waitFor(c.t, "all nodes are in a cluster", func() bool {
		for _, n := range c.nodes {
			if n != nil && !n.cluster.entered.Load() {
				return false
			}
		}
		return true
	})
	var one uint64
	for i, n := range c.nodes {
		if n == nil {
			continue
		}
		g := n.cluster.table.State().Cluster().Generation
		if one != 0 && g != one {
			c.t.Fatalf("n%d is in generation %d, another one in %d", i, g, one)
		}
		one = g
	}
	return one
}

func TestNodesThatAreToldTheSameFoundOneCluster(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 3, 3)
	defer c.close()
	c.start(2, 0)
	for _, i := range []int{0, 2} {
		waitFor(t, "they have found each other", func() bool { return len(c.nodes[i].cluster.peers()) == 1 })
	}
	c.start(1)
	c.generation()
	for i, n := range c.nodes {
		want := ""
		if i > 0 {
			want = "n0"
		}
		if b := n.cluster.belongs(); b.Founder != "n0" || !b.Entered {
			t.Errorf("n%d remembers %+v, founder %s", i, b, want)
		}
	}
}
