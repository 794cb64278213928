package clustertest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/members"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node"
	"github.com/ringside-kv/ringside/resp/node/internal/environment"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// Config says what cluster to start. Its zero value is three nodes.
type Config struct {
	// Nodes is how many nodes the cluster has, 3 by default.
	Nodes int
	// Configure, if set, changes the settings of a node each time before it is opened. Addresses,
	// directory and the list of nodes to join are set already, and must stay.
	Configure func(i int, cfg *node.Config)
	// Latency is the longest time that a message between two nodes takes; the shortest is 0.
	Latency time.Duration
}

// maxNodes is how many nodes a cluster may have.
const maxNodes = 200

// Cluster is a running cluster. Its methods are for the goroutine of the test, unless they say
// otherwise; they end the test if they fail.
type Cluster struct {
	t     testing.TB
	cfg   Config
	net   *fakenet.Net
	began time.Time
	nodes []*member
}

// A member is one node, or what is left of it while it does not run.
type member struct {
	*node.Node // nil while it does not run
	ip, dir    string
	disk       *memdisk.FS
	log        lastLines
	ahead      atomic.Int64 // of its clock, in nanoseconds
}

// Start starts a cluster and returns once it is settled. The cluster is closed when the test ends; if
// the test fails, the last lines of all nodes' logs are shown.
func Start(t testing.TB, cfg Config) *Cluster {
	t.Helper()
	if cfg.Nodes == 0 {
		cfg.Nodes = 3
	}
	if cfg.Nodes < 1 || cfg.Nodes > maxNodes || cfg.Latency < 0 {
		t.Fatalf("clustertest: %d nodes with latency %v; use 1 to %d, and no negative latency", cfg.Nodes, cfg.Latency, maxNodes)
	}
	c := &Cluster{t: t, cfg: cfg, net: fakenet.New(1, cfg.Latency, 0), began: time.Now()}
	dir := t.TempDir()
	t.Cleanup(c.close)
	for i := range cfg.Nodes {
		c.nodes = append(c.nodes, &member{
			ip: fmt.Sprintf("10.0.0.%d", i+1), dir: filepath.Join(dir, fmt.Sprint("n", i)), disk: memdisk.New(),
		})
		c.Start(i)
	}
	c.AwaitSettled()
	return c
}

// Start starts a node again that was stopped or killed, on what its disk holds.
func (c *Cluster) Start(i int) {
	c.t.Helper()
	m := c.member(i)
	if m.Node != nil {
		c.t.Fatalf("clustertest: node %d runs already", i)
	}
	cfg := c.config(i)
	n, err := node.Open(cfg)
	if err != nil {
		c.t.Fatalf("clustertest: open node %d: %v", i, err)
	}
	m.Node = n
}

// A cluster of up to fewNodes nodes has 16 ranges, and so starts sooner; a larger one would split them.
const (
	fewNodes  = 5
	fewRanges = "000F"
)

// config returns the settings of a node.
func (c *Cluster) config(i int) node.Config {
	m := c.nodes[i]
	cfg := node.DefaultConfig()
	cfg.ID, cfg.Dir = fmt.Sprint("n", i), m.dir
	cfg.Addr, cfg.BusAddr, cfg.GossipAddr, cfg.HTTPAddr = m.ip+":6379", m.ip+":16379", m.ip+":7379", node.HTTPOff
	for j, other := range c.nodes {
		if j != i && other.Node != nil {
			cfg.Join = append(cfg.Join, other.ip+":7379")
		}
	}
	cfg.ProtectedMode, cfg.MinFreeDisk = false, 0
	cfg.Cache, cfg.BlockCache, cfg.MemTableSize = 1<<20, 1<<20, 1<<20
	cfg.Logger = slog.New(slog.NewTextHandler(&m.log, nil)).With("at", cfg.ID)
	e := environment.Of(&cfg)
	e.Network = c.net.Host(m.ip)
	e.Now = func() time.Duration { return time.Since(c.began) + time.Duration(m.ahead.Load()) }
	e.Store = func(s *store.Config) { s.FS, s.Dir = m.disk, "data" }
	e.Timing = members.Fast()
	e.Tune = environment.Tune{
		Engine: func(r *replica.Config) {
			r.Settle, r.Retry, r.Sends, r.Receives = 5*time.Millisecond, 50*time.Millisecond, 2, 2
		},
		Table: func(t *table.Config) { t.UpkeepInterval = 20 * time.Millisecond },
		Enter: 5 * time.Millisecond,
	}
	if c.cfg.Configure != nil {
		c.cfg.Configure(i, &cfg)
	}
	if cmp.Or(cfg.Strategy, node.StrategyBuckets) == node.StrategyBuckets && cfg.Mask == "" && c.cfg.Nodes <= fewNodes {
		cfg.Mask = fewRanges
	}
	return cfg
}

func (c *Cluster) member(i int) *member {
	c.t.Helper()
	if i < 0 || i >= len(c.nodes) {
		c.t.Fatalf("clustertest: there is no node %d of %d", i, len(c.nodes))
	}
	return c.nodes[i]
}

func (c *Cluster) running(i int) *member {
	c.t.Helper()
	m := c.member(i)
	if m.Node == nil {
		c.t.Fatalf("clustertest: node %d does not run", i)
	}
	return m
}

// Node returns a node that runs.
func (c *Cluster) Node(i int) *node.Node {
	c.t.Helper()
	return c.running(i).Node
}

// Addr returns where clients reach a node by [Cluster.Dial], whether it runs or not.
func (c *Cluster) Addr(i int) string {
	c.t.Helper()
	return c.member(i).ip + ":6379"
}

// clientHost is the host of all clients.
const clientHost = "10.0.1.1"

// Dial connects to a node over the network of the cluster, and so fails while that is cut. It fits
// redis.Options.Dialer and redis.ClusterOptions.Dialer. It may be called from any goroutine.
func (c *Cluster) Dial(ctx context.Context, _, addr string) (net.Conn, error) {
	return c.net.Host(clientHost).Dial(ctx, addr)
}

// Client returns a client of one node, which stays there and sends each command once. It is closed
// when the test ends.
func (c *Cluster) Client(i int) *redis.Client {
	c.t.Helper()
	client := redis.NewClient(&redis.Options{
		Addr: c.Addr(i), Dialer: c.Dial, MaxRetries: -1, ContextTimeoutEnabled: true, ReadTimeout: time.Minute, WriteTimeout: time.Minute,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
	c.t.Cleanup(func() { _ = client.Close() })
	return client
}

// Stop stops a node as SIGTERM does: it hands over what it serves, and keeps its copies.
func (c *Cluster) Stop(i int) {
	c.t.Helper()
	m := c.running(i)
	if err := m.Close(); err != nil {
		c.t.Fatalf("clustertest: close node %d: %v", i, err)
	}
	m.Node = nil
}

// Kill ends a node as kill -9 does. See [node.Node.Kill].
func (c *Cluster) Kill(i int) {
	c.t.Helper()
	m := c.running(i)
	m.Node.Kill()
	m.Node = nil
}

// Partition cuts nodes off from all others and from clients. They still reach each other. Nodes that
// were cut off before stay so.
func (c *Cluster) Partition(nodes ...int) {
	c.t.Helper()
	for _, i := range nodes {
		c.net.Move(1, c.member(i).ip)
	}
}

// Heal ends all partitions.
func (c *Cluster) Heal() { c.net.Heal() }

// Freeze stops the network of a node's host, as SIGSTOP stops its process: connections stay open and
// nothing arrives or leaves, until thaw is called.
func (c *Cluster) Freeze(i int) (thaw func()) {
	c.t.Helper()
	ip := c.member(i).ip
	c.net.Freeze(ip, true)
	return func() { c.net.Freeze(ip, false) }
}

// AdvanceClock has the clock by which a node counts leases jump ahead, as after its machine was
// suspended. The clock by which keys expire does not jump.
func (c *Cluster) AdvanceClock(i int, by time.Duration) {
	c.t.Helper()
	if by < 0 {
		c.t.Fatalf("clustertest: the clock of leases does not go back (%v)", by)
	}
	c.member(i).ahead.Add(int64(by))
}

// settleTimeout bounds AwaitSettled.
const settleTimeout = time.Minute

// AwaitSettled waits until all nodes that run serve, every range has its copies as far as there are
// nodes for them, and nothing is being moved.
func (c *Cluster) AwaitSettled() {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		err := c.unsettled(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			c.t.Fatalf("clustertest: the cluster does not settle in %v: %v", settleTimeout, err)
		}
	}
}

// unsettled returns what AwaitSettled waits for, nil if nothing.
func (c *Cluster) unsettled(ctx context.Context) error {
	var any *node.Node
	for i, m := range c.nodes {
		if m.Node == nil {
			continue
		}
		if err := errors.Join(m.Err(), m.Ready()); err != nil {
			return fmt.Errorf("node %d: %w", i, err)
		}
		any = m.Node
	}
	if any == nil {
		return nil
	}
	text, err := any.Do(ctx, "RING", "STATUS", "JSON").Bytes()
	if err != nil {
		return err
	}
	var r status.Report
	if err := json.Unmarshal(text, &r); err != nil {
		return err
	}
	voters := 0
	for _, n := range r.Nodes {
		if n.Voter {
			voters++
		}
	}
	if r.Leader == "" || r.Short > 0 || r.Lost > 0 || len(r.Handoffs) > 0 || voters < votes(len(r.Nodes)) {
		return fmt.Errorf("leader %q, %d ranges short of backups, %d lost, %d handoffs, %d voters of %d nodes",
			r.Leader, r.Short, r.Lost, len(r.Handoffs), voters, len(r.Nodes))
	}
	return nil
}

// votes returns how many of a cluster's nodes agree on its placement.
func votes(nodes int) int {
	switch {
	case nodes <= 2:
		return 1
	case nodes <= 4:
		return 3
	}
	return 5
}

// close kills all nodes: nothing is left that anyone would open again.
func (c *Cluster) close() {
	for _, m := range slices.Backward(c.nodes) {
		if m.Node != nil {
			m.Node.Kill()
			m.Node = nil
		}
	}
	if inBubble() {
		time.Sleep(time.Minute) // virtual: goroutines of memberlist end after their last probes
	}
	if c.t.Failed() {
		for i, m := range c.nodes {
			c.t.Logf("the end of node %d's log:\n%s", i, &m.log)
		}
	}
}
