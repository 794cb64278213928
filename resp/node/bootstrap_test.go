package node

import (
	"fmt"
	"log/slog"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/buckets"
	"github.com/ringside-kv/ringside/internal/freeport"
	"github.com/ringside-kv/ringside/internal/redistest"
	"github.com/ringside-kv/ringside/internal/resptest"
	"github.com/ringside-kv/ringside/store"
)

// freeGossip are addresses where nobody listens, for nodes that are all told the same.
func freeGossip(t *testing.T, n int) []string {
	t.Helper()
	addrs, release, err := freeport.Loopback(n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
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
	if os.Getenv("RINGSIDE_TEST_LOG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("at", cfg.ID)
	}
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
	resptest.WaitFor(c.t, "all nodes are in a cluster", func() bool {
		for _, n := range c.nodes {
			if n != nil && !n.cluster.entry.entered.Load() {
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

func TestNodesWithTheSameExpectationFoundOneCluster(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 3, 3)
	defer c.close()
	c.start(2, 0)
	for _, i := range []int{0, 2} {
		resptest.WaitFor(t, "they have found each other", func() bool { return len(c.nodes[i].cluster.peers()) == 1 })
	}
	c.start(1)
	before := c.generation()
	for i, n := range c.nodes {
		if b := n.cluster.entry.chosenMembership(); b.Founder != "n0" || !b.Entered {
			t.Errorf("n%d remembers %+v", i, b)
		}
	}

	// It is one for good: told the same once more, they found nothing.
	c.stop(0, 1, 2)
	c.start(1, 0)
	c.start(2)
	if g := c.all(); g != before {
		t.Errorf("generation %d, after %d", g, before)
	}
}

// write leaves a choice in a node's directory, as one that died with it has.
func (c *crew) write(i int, b membership) {
	c.t.Helper()
	st, err := store.Open(store.Config{Dir: c.dirs[i], Strategy: StrategyBuckets, Hash: HashNative, Token: buckets.Token})
	if err != nil {
		c.t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		c.t.Fatal(err)
	}
	b.Format, b.Cluster = membershipFormat, "ringside"
	if err := b.save(c.dirs[i]); err != nil {
		c.t.Fatal(err)
	}
}

// all waits until all nodes are in one cluster, and serve.
func (c *crew) all() uint64 {
	c.t.Helper()
	g := c.generation()
	for i, n := range c.nodes {
		client := redistest.Client(&redis.Options{Addr: n.Addr().String(), MaxRetries: 20})
		var err error
		resptest.WaitFor(c.t, fmt.Sprintf("n%d to take a write", i), func() bool { // a busy machine may leave the outcome of one open
			was := err
			if err = client.Set(c.t.Context(), fmt.Sprint("key:", i), i, 0).Err(); err != nil && (was == nil || was.Error() != err.Error()) {
				c.t.Logf("n%d: %v", i, err)
			}
			return err == nil
		})
		_ = client.Close()
	}
	return g
}

// outside checks that nobody founds anything as long as no more than n nodes are there.
func (c *crew) outside() {
	c.t.Helper()
	for i, n := range c.nodes {
		if n == nil {
			continue
		}
		if b := n.cluster.entry.chosenMembership(); b.Entered || n.cluster.table.Known() {
			c.t.Fatalf("n%d is in a cluster already: %+v", i, b)
		}
	}
}

func TestLateNodeJoins(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 4, 3)
	defer c.close()
	c.start(1, 2, 3)
	before := c.generation()
	c.start(0) // though it has the lowest id
	if g := c.all(); g != before {
		t.Errorf("generation %d, after %d", g, before)
	}
}

func TestNodesThatRestartInTheMiddleFoundOneCluster(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 3, 3)
	defer c.close()
	c.start(0, 1)
	resptest.WaitFor(t, "they have found each other", func() bool { return len(c.nodes[0].cluster.peers()) == 1 })
	c.outside()
	c.stop(0)
	c.start(0)
	c.stop(1)
	c.start(2, 1)
	c.all()
}

// The founder dies after it was promised what it asked for, and before it has founded:
// the others wait for it, and it goes on.
func TestRestartedFounderContinues(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 3, 3)
	defer c.close()
	for i := range 3 {
		c.write(i, membership{Generation: 77, Founder: "n0"})
	}
	c.start(1, 2)
	resptest.WaitFor(t, "they have found each other", func() bool { return len(c.nodes[1].cluster.peers()) == 1 })
	c.outside()
	c.start(0)
	if g := c.all(); g != 77 {
		t.Errorf("generation %d", g)
	}
}

// The founder dies right after it has founded, before anybody has heard of it.
func TestClusterOfDeadFounderIsJoined(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 3, 3)
	defer c.close()
	alone := memberConfig(t, c.dirs[0], "n0")
	n, err := Open(alone)
	if err != nil {
		t.Fatal(err)
	}
	resptest.WaitFor(t, "it has founded", func() bool { return n.cluster.entry.entered.Load() })
	g := n.cluster.entry.generation()
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	c.write(1, membership{Generation: g, Founder: "n0"})
	c.start(1, 2)
	resptest.WaitFor(t, "they have found each other", func() bool { return len(c.nodes[1].cluster.peers()) == 1 })
	c.outside()
	c.start(0)
	if now := c.all(); now != g {
		t.Errorf("generation %d, after %d", now, g)
	}
}

// A founder whose directory was emptied before anybody entered begins anew.
func TestFounderThatLostItsDirectoryBeginsAgain(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 3, 3)
	defer c.close()
	c.write(1, membership{Generation: 77, Founder: "n0"})
	c.write(2, membership{Generation: 77, Founder: "n0"})
	c.start(1, 2, 0)
	if g := c.all(); g == 77 {
		t.Error("n0 has founded what it could not know of")
	}
}

// One that was about to found gives way to one with a lower id, and who had promised
// to follow it follows.
func TestFoundersGiveWayToTheLowestID(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 4, 4)
	defer c.close()
	c.write(1, membership{Generation: 77, Founder: "n1"})
	c.write(2, membership{Generation: 77, Founder: "n1"})
	c.write(3, membership{Generation: 77, Founder: "n1"})
	c.start(0, 2, 3, 1)
	if g := c.all(); g == 0 {
		t.Errorf("generation %d", g)
	}
}

// A cluster that is there is joined, whatever had been begun.
func TestExistingClusterIsJoined(t *testing.T) {
	defer goneInTheEnd(t)
	lone := openMember(t, "lone")
	defer lone.Close()
	c := newCrew(t, 3, 3)
	defer c.close()
	c.addrs = append(c.addrs, lone.gossipAddr())
	c.write(0, membership{Generation: 77, Founder: "n0"})
	c.write(1, membership{Generation: 77, Founder: "n0"})
	c.start(1, 0, 2)
	if g := c.all(); g != lone.cluster.entry.generation() {
		t.Errorf("generation %d, there was %d", g, lone.cluster.entry.generation())
	}
}

// Nodes that expect another number of nodes do not count.
func TestAnotherExpectationDoesNotCount(t *testing.T) {
	defer goneInTheEnd(t)
	c := newCrew(t, 2, 2)
	defer c.close()
	log := newRecords()
	for i, expect := range []int{2, 3} {
		cfg := c.config(i)
		cfg.BootstrapExpect, cfg.Logger = expect, slog.New(log)
		n, err := Open(cfg)
		if err != nil {
			t.Fatal(err)
		}
		c.nodes[i] = n
	}
	log.await(t, "for 2 nodes with bootstrap-expect 2; so far there are 1: n0; not counted: n1 with bootstrap-expect 3")
	c.outside()
}
