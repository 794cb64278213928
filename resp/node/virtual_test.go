package node

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/replica/fakenet"
	"github.com/ringside-kv/ringside/store"
)

// A virtualCluster is whole nodes over a network in memory, with data in memory, in
// virtual time: Serf, Raft, the bus, the engine, Pebble and the server are the real ones.
type virtualCluster struct {
	t     *testing.T
	net   *fakenet.Net
	rnd   *rand.Rand
	nodes map[string]*virtualNode
}

type virtualNode struct {
	*Node
	id, ip, dir string
	fs          *vfs.MemFS
}

func newVirtualCluster(t *testing.T, seed uint64, delay time.Duration, loss float64) *virtualCluster {
	t.Logf("seed %d", seed)
	return &virtualCluster{
		t: t, net: fakenet.New(seed, delay, loss), rnd: rand.New(rand.NewPCG(seed, 7)), nodes: map[string]*virtualNode{},
	}
}

// start opens a node that is new, or was stopped.
func (c *virtualCluster) start(id string, join ...string) *virtualNode {
	c.t.Helper()
	v := c.nodes[id]
	if v == nil {
		v = &virtualNode{id: id, ip: fmt.Sprintf("10.0.0.%d", len(c.nodes)+1), dir: c.t.TempDir(), fs: vfs.NewCrashableMem()}
		c.nodes[id] = v
	}
	cfg := DefaultConfig()
	cfg.ID, cfg.Dir, cfg.HTTPAddr, cfg.ProtectedMode = id, v.dir, HTTPOff, false
	cfg.Addr, cfg.BusAddr, cfg.GossipAddr = v.ip+":6379", v.ip+":16379", v.ip+":7379"
	for _, other := range join {
		cfg.Join = append(cfg.Join, c.nodes[other].ip+":7379")
	}
	cfg.Cache, cfg.BlockCache, cfg.MinFreeDisk = 1<<20, 1<<20, 0
	cfg.below.network = c.net.Host(v.ip)
	cfg.below.store = func(s *store.Config) { s.FS = v.fs }
	if os.Getenv("RINGSIDE_TEST_LOG") != "" {
		cfg.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil)).With("at", id)
	}
	n, err := Open(cfg)
	if err != nil {
		c.t.Fatal(err)
	}
	v.Node = n
	return v
}

// client talks to one node, from a host of its own.
func (c *virtualCluster) client(id string) *redis.Client {
	ip := c.nodes[id].ip
	return redis.NewClient(&redis.Options{
		Addr: ip + ":6379", MaxRetries: -1, PoolSize: 2, ReadTimeout: time.Minute, ContextTimeoutEnabled: true,
		Dialer: func(ctx context.Context, _, addr string) (net.Conn, error) { return c.net.Host("10.0.1.1").Dial(ctx, addr) },
	})
}

func (c *virtualCluster) close() {
	for _, v := range c.nodes {
		if v.Node != nil {
			if err := v.Close(); err != nil {
				c.t.Errorf("%s: %v", v.id, err)
			}
		}
	}
	time.Sleep(time.Minute) // virtual: memberlist's last probes end
}

func TestVirtual(t *testing.T) {
	seed := rand.Uint64()
	synctest.Test(t, func(t *testing.T) {
		c := newVirtualCluster(t, seed, 2*time.Millisecond, 0.02)
		began := time.Now()
		c.start("a")
		c.start("b", "a")
		c.start("c", "a")
		waitFor(t, "three shares", func() bool { p := c.nodes["b"].primaries(); return len(p) == 3 && p["a"] <= 86 })
		t.Logf("after %v", time.Since(began))
		client := c.client("b")
		for i := range 100 {
			if err := client.Set(t.Context(), fmt.Sprint("k", i), i, 0).Err(); err != nil {
				t.Error(err)
			}
		}
		client.Close()
		c.close()
	})
}
