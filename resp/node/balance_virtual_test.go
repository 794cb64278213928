package node

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
	"github.com/ringside-kv/ringside/resp/status"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// A hotspot reads keys of one node through a client: so many keys, each so often in a second.
type hotspot struct {
	c  *virtualCluster
	mu sync.Mutex
	// keys are read each half second.
	keys []string
	stop chan struct{}
	done sync.WaitGroup
}

// heat starts a hotspot without keys. The returned function ends it.
func (c *virtualCluster) heat(via string) (h *hotspot, end func()) {
	h = &hotspot{c: c, stop: make(chan struct{})}
	client := c.client(via)
	h.done.Go(func() {
		for {
			select {
			case <-h.stop:
				return
			case <-time.After(500 * time.Millisecond):
			}
			h.mu.Lock()
			keys := h.keys
			h.mu.Unlock()
			pipe := client.Pipeline()
			for _, key := range keys {
				pipe.Get(c.t.Context(), key)
			}
			if _, err := pipe.Exec(c.t.Context()); err != nil && err != redis.Nil {
				c.t.Errorf("reading hot keys: %v", err)
				return
			}
		}
	})
	return h, func() {
		close(h.stop)
		h.done.Wait()
		client.Close()
	}
}

// on chooses n keys that a node serves now, and as many of all nodes.
func (h *hotspot) on(node string, n int) {
	h.c.t.Helper()
	p := h.c.nodes[node].cluster.table.State().Placement()
	var keys []string
	for i := 0; len(keys) < n; i++ {
		key := fmt.Sprint("hot:", node, i)
		if p.Lookup(h.c.nodes[node].cluster.strategy.Token([]byte(key))).Primary == node {
			keys = append(keys, key)
		}
	}
	for i := range n {
		keys = append(keys, fmt.Sprint("cold:", i))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keys = keys
}

// imbalance returns the load of the busiest node as a multiple of the mean, as RING STATUS has it.
func (c *virtualCluster) imbalance(via string) float64 {
	c.t.Helper()
	client := c.client(via)
	defer client.Close()
	text, err := client.Do(c.t.Context(), "RING", "STATUS", "JSON").Text()
	if err != nil {
		c.t.Fatal(err)
	}
	r := new(status.Report)
	if err := json.Unmarshal([]byte(text), r); err != nil {
		c.t.Fatal(err)
	}
	ratio, _ := r.LoadImbalance()
	return ratio
}

// ask returns the reply to an order for text.
func (c *virtualCluster) ask(id string, args ...any) string {
	c.t.Helper()
	client := c.client(id)
	defer client.Close()
	text, err := client.Do(c.t.Context(), args...).Text()
	if err != nil {
		c.t.Fatalf("%v: %v", args, err)
	}
	return text
}

// evened waits until all nodes have the overrides of an order and nothing moves.
func (c *virtualCluster) evened(overrides func(n int) bool) {
	c.t.Helper()
	c.within(10*time.Minute, "overrides are carried out", func() bool {
		for _, id := range c.running() {
			st := c.nodes[id].cluster.table.State()
			if !overrides(len(st.LoadBalance().Overrides)) || len(st.Handoffs()) > 0 {
				return false
			}
		}
		return true
	})
	c.settled()
}

// TestBalanceLoadEvensHotRangesUnderEachStrategy has one node with most of the load. One order moves ranges to the
// others, no command fails meanwhile, and off leaves everything to the strategy again.
func TestBalanceLoadEvensHotRangesUnderEachStrategy(t *testing.T) {
	randomtest.Draw(t, 4)
	if testing.Short() {
		t.Skip("takes minutes with the race detector, and the same goroutines as TestChaosLooksLikeOneServer")
	}
	drawn := []string{strategy.Buckets, strategy.VNode}[rand.IntN(2)]
	for _, name := range []string{strategy.Buckets, strategy.Ketama, strategy.VNode, strategy.Rendezvous} {
		t.Run(name, func(t *testing.T) {
			if isBrief() && name != drawn {
				t.Skip("test:virtual runs all: thousands of ranges take half a minute, and ring/load tests what is proposed for each")
			}
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Strategy = name })
				c.three()
				c.backups(1)
				var l nodetest.AppLoad
				closeClients := c.load(&l, seed, false, "a", "b")
				hot, end := c.heat("b")
				hot.on("a", 400)
				time.Sleep(time.Minute)
				before := c.imbalance("c")
				if before < 1.5 {
					t.Fatalf("the busiest node has %.2f × the mean", before)
				}
				plan := c.ask("b", "RING", "PLAN", "LOAD")
				if !strings.Contains(plan, "busiest node by its weight: a with") || !strings.Contains(plan, "ops/s now") {
					t.Errorf("%s", plan)
				}
				c.order("c", "RING", "BALANCE", "LOAD", "ONCE")
				c.evened(func(n int) bool { return n > 0 })
				time.Sleep(2 * time.Minute)
				after := c.imbalance("a")
				t.Logf("%.2f → %.2f\n%s", before, after, plan)
				if after > 1.25 {
					t.Errorf("the busiest node has %.2f × the mean, %.2f before\n%s", after, before, plan)
				}
				// A restart of a node and a join leave the overrides in force.
				c.stop("c")
				c.start("c", "a")
				c.ready("c")
				c.start("d", "a")
				c.ready("d")
				c.evened(func(n int) bool { return n > 0 })
				c.order("d", "RING", "BALANCE", "LOAD", "OFF")
				c.evened(func(n int) bool { return n == 0 })
				if text := c.ask("d", "RING", "BALANCE", "LOAD"); !strings.Contains(text, "load_balancing:off\r\noverrides:0\r\n") {
					t.Errorf("%s", text)
				}
				end()
				l.Stop()
				closeClients()
				c.check(&l)
				c.close()
			})
		})
	}
}

// TestBalanceLoadDoesNotFlapInAnHour has a hotspot that moves every five minutes, and load balancing on. It then stays,
// and is evened.
func TestBalanceLoadDoesNotFlapInAnHour(t *testing.T) {
	if isBrief() {
		t.Skip("test:virtual runs it, for half a minute: ring/load has hours of the decisions alone")
	}
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		hot, end := c.heat("b")
		c.order("b", "RING", "BALANCE", "LOAD", "ON")
		st := c.nodes["a"].cluster.table.State()
		since, decisions := st.LoadBalance().Since, 0
		watch := func(d time.Duration) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Second) {
				if now := c.nodes["a"].cluster.table.State().LoadBalance(); now.Since != since {
					since = now.Since
					decisions++
				}
			}
		}
		for i := range 12 {
			hot.on([]string{"a", "b", "c"}[i%3], 100)
			watch(5 * time.Minute)
		}
		t.Logf("%d decisions while the hotspot moved", decisions)
		if decisions == 0 || decisions > 6 {
			t.Errorf("%d decisions while the hotspot moved", decisions)
		}
		// The longest pause and a while.
		c.within(45*time.Minute, "the load is even", func() bool { return c.imbalance("a") <= 1.25 })
		watch(5 * time.Minute)
		if after := c.imbalance("a"); after > 1.25 {
			t.Errorf("the busiest node has %.2f × the mean\n%s", after, c.ask(c.leader(), "RING", "BALANCE", "LOAD"))
		}
		end()
		c.close()
	})
}

// TestBalanceLoadIsRefusedWithReason gives orders that cannot be carried out. Nothing changes.
func TestBalanceLoadIsRefusedWithReason(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.LoadVersion - 1}
		speaks := map[string]bus.Versions{"c": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.Databases = speaks[cfg.ID], 1 })
		c.three()
		refused := func(want string, args ...any) {
			t.Helper()
			c.refusedUnchanged("a", want, func(st *table.State) any { return st.LoadBalance().Since }, args...)
		}
		refused("there is no load to even", "RING", "BALANCE", "LOAD", "ONCE")
		refused("there is no load to even", "RING", "PLAN", "LOAD")
		refused("the build of node c cannot even the load: upgrade it first", "RING", "BALANCE", "LOAD", "ON")
		c.order("a", "RING", "PAUSE")
		refused("the moving of data is paused", "RING", "BALANCE", "LOAD", "ONCE")
		c.order("a", "RING", "RESUME")
		c.stop("c")
		refused("the load of a node is not known: c", "RING", "PLAN", "LOAD")
		delete(speaks, "c")
		c.start("c", "a")
		c.ready("c")
		c.order("a", "RING", "BALANCE", "LOAD", "ON")
		speaks["d"] = old
		c.start("d", "a")
		time.Sleep(10 * time.Second)
		if c.nodes["d"].cluster.entry.entered.Load() || !strings.Contains(c.nodes["d"].log.String(), "of the bus protocol, the peer") {
			t.Errorf("the older node: %s", &c.nodes["d"].log)
		}
		c.stop("d")
		for _, id := range []string{"b", "c"} {
			c.stop(id)
		}
		time.Sleep(10 * time.Second) // a leader without a majority steps down
		refused("", "RING", "BALANCE", "LOAD", "OFF")
		c.close()
	})
}
