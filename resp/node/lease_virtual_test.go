package node

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
)

// ownKey is a key that a node serves.
func (c *virtualCluster) ownKey(id string) string {
	c.t.Helper()
	cl := c.nodes[id].cluster
	for i := range 10000 {
		key := fmt.Sprint("key", i)
		if row, ok := cl.table.State().Row(cl.strategy.Token([]byte(key))); ok && row.Primary == id {
			return key
		}
	}
	c.t.Fatalf("%s serves nothing", id)
	return ""
}

// leader is who leads, once all who run agree.
func (c *virtualCluster) leader() string {
	c.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		leader := ""
		for _, id := range c.running() {
			now, _ := c.nodes[id].cluster.table.Leader()
			if leader = now; leader == "" || c.nodes[leader].Node == nil {
				leader = ""
				break
			}
		}
		if leader != "" {
			return leader
		}
	}
	c.t.Fatal("nobody leads")
	return ""
}

// three opens three nodes that vote.
func (c *virtualCluster) three() {
	c.t.Helper()
	c.start("a")
	c.start("b", "a")
	c.start("c", "a")
	c.settled()
	for end := time.Now().Add(time.Minute); len(c.nodes["a"].cluster.table.Voters()) < 3; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatal("not everyone has a vote")
		}
	}
	time.Sleep(2 * time.Second)
}

// virtually runs a test in virtual time, in a bubble of its own, beside other tests of its kind:
// what a busy machine delays is not seen in there.
func virtually(t *testing.T, runs int, test func(t *testing.T, seed uint64)) {
	t.Helper()
	t.Parallel()
	for _, seed := range seeds(t, runs, 30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			fakenet.Bubble(t, func(t *testing.T) { test(t, seed) })
		})
		if t.Failed() {
			t.Fatalf("set RINGSIDE_TEST_SEED=%d to see it again", seed)
		}
	}
}

// steady writes and reads a key of a node through that node, until stop is called, which
// returns how long the slowest took.
func (c *virtualCluster) steady(id string) (stop func() (slowest time.Duration, times int)) {
	key, client := c.ownKey(id), c.client(id)
	ctx, cancel := context.WithCancel(context.Background())
	var slowest time.Duration
	times := 0
	var done sync.WaitGroup
	done.Go(func() {
		for ctx.Err() == nil {
			began := time.Now()
			err := client.Set(context.Background(), key, times, 0).Err()
			if err == nil {
				var got int
				if got, err = client.Get(context.Background(), key).Int(); err == nil && got != times {
					err = fmt.Errorf("%d instead of %d", got, times)
				}
			}
			if err != nil {
				c.t.Errorf("at %s: %v", id, err)
			}
			slowest = max(slowest, time.Since(began))
			times++
			time.Sleep(time.Millisecond)
		}
	})
	return func() (time.Duration, int) {
		cancel()
		done.Wait()
		_ = client.Close()
		return slowest, times
	}
}

// The leader's death is no matter of other nodes' keys: there is another before leases
// are over. There are no copies here: a write that waits for one at the dead node waits
// until it is released, whoever leads.
func TestDeathOfLeaderDoesNotPauseOthers(t *testing.T) {
	virtually(t, 3, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 0 })
		c.three()
		leader := c.leader()
		var stops []func() (time.Duration, int)
		lapses := int64(0)
		for _, id := range c.running() {
			if id != leader {
				lapses += c.nodes[id].cluster.engine.LeaseStats().Lapses
				stops = append(stops, c.steady(id))
			}
		}
		time.Sleep(time.Duration(rand.New(rand.NewPCG(seed, 3)).IntN(1000)) * time.Millisecond)
		c.crash(leader)
		time.Sleep(5 * time.Second)
		for _, stop := range stops {
			// Far from what an election takes, and from what a lease lasts.
			if slowest, times := stop(); slowest > 200*time.Millisecond || times < 50 {
				t.Errorf("%d times, the slowest took %v", times, slowest)
			}
		}
		for _, id := range c.running() {
			lapses -= c.nodes[id].cluster.engine.LeaseStats().Lapses
		}
		if lapses != 0 {
			t.Errorf("%d leases have ended", -lapses)
		}
		c.close()
	})
}

// Who is cut off answers nothing about its keys once its lease is over, and goes on when
// it is back.
func TestIsolatedNodeStopsAnswering(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) { cfg.ForwardTimeout = time.Second })
		c.three()
		leader := c.leader()
		victim := c.running()[rand.New(rand.NewPCG(seed, 3)).IntN(3)]
		t.Logf("%s is cut off, %s leads", victim, leader)
		key, client := c.ownKey(victim), c.client(victim)
		set := func() error { return client.Set(t.Context(), key, "v", 0).Err() }
		if err := set(); err != nil {
			t.Fatal(err)
		}
		for _, id := range c.running() {
			if id != victim {
				c.net.Mute(c.nodes[victim].ip, c.nodes[id].ip, true)
				c.net.Mute(c.nodes[id].ip, c.nodes[victim].ip, true)
			}
		}
		cut := time.Now()
		for time.Since(cut) < 10*time.Second {
			time.Sleep(10 * time.Millisecond)
			err := client.Get(t.Context(), key).Err()
			if at := time.Since(cut); err == nil && at > 2*time.Second {
				t.Fatalf("it answers %v after it was cut off", at)
			}
			if err == nil {
				continue
			}
			for i, do := range []func() error{
				func() error { return client.Get(t.Context(), key).Err() },
				set,
				func() error { return client.SetNX(t.Context(), key, "x", 0).Err() },
				func() error { return client.MGet(t.Context(), key, key).Err() },
				func() error { return client.Scan(t.Context(), 0, "", 10).Err() },
				func() error { return client.DBSize(t.Context()).Err() },
			} {
				began := time.Now()
				if err := do(); err == nil || strings.Contains(err.Error(), "i/o timeout") {
					t.Errorf("without a lease, command %d after %v: %v", i, time.Since(began), err)
				}
			}
		}
		c.net.Heal()
		for end := time.Now().Add(time.Minute); set() != nil; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("it does not answer any more")
			}
		}
		if n := c.nodes[victim].cluster.engine.LeaseStats(); n.Lapses != 1 {
			t.Errorf("%+v", n)
		}
		_ = client.Close()
		c.close()
	})
}
