package node

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/store"
)

// gray is what a test takes from a node that goes on to live and to gossip.
type gray struct {
	disk  disk
	log   atomic.Bool                   // the log of the table takes no entries
	stuck atomic.Pointer[chan struct{}] // closed when entries are applied again; nil while they are
	clock atomic.Int64                  // where the clock of leases stands; 0 while it goes on
}

// under puts it under a node.
func (g *gray) under(cfg *Config) {
	open, now := cfg.env.Store, cfg.env.Now
	cfg.env.Store = func(sc *store.Config) {
		open(sc)
		sc.FS = g.disk.over(sc.FS)
	}
	cfg.env.Now = func() time.Duration {
		if stopped := g.clock.Load(); stopped != 0 {
			return time.Duration(stopped)
		}
		return now()
	}
	cfg.env.Table = table.Hooks{
		Write: func() error {
			g.disk.wait()
			if g.log.Load() {
				return syscall.ENOSPC
			}
			return nil
		},
		Applying: func() {
			if until := g.stuck.Load(); until != nil {
				<-*until
			}
		},
	}
}

// hang keeps the node from applying entries until release is called.
func (g *gray) hang() (release func()) {
	until := make(chan struct{})
	if !g.stuck.CompareAndSwap(nil, &until) {
		return func() {}
	}
	return func() {
		g.stuck.Store(nil)
		close(until)
	}
}

// grayCluster opens three nodes with one backup, which can lose what they rest on.
func grayCluster(t *testing.T, seed uint64) (*virtualCluster, map[string]*gray) {
	of := map[string]*gray{"a": {}, "b": {}, "c": {}}
	c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) {
		of[cfg.ID].under(cfg)
		cfg.MinFreeDisk = 1 << 20
		cfg.ForwardTimeout = time.Second
	})
	c.three()
	c.backups(1)
	return c, of
}

// A grayState is a way in which a node does not serve although it lives and gossips.
type grayState struct {
	// within bounds how long keys may be away: 5 s after the lease has expired, or after the state is
	// known where that takes a while on purpose.
	within time.Duration
	// reads tells that reads go on all the time.
	reads bool
	// check is the check of readiness that fails meanwhile.
	check string
	begin func(c *virtualCluster, id string, g *gray) (end func())
}

// set lets something be so until end is called.
func set(these ...*atomic.Bool) (end func()) {
	for _, b := range these {
		b.Store(true)
	}
	return func() {
		for _, b := range these {
			b.Store(false)
		}
	}
}

var grayStates = map[string]grayState{
	"full disk, nothing is logged": {
		within: 5 * time.Second, check: "writes",
		begin: func(_ *virtualCluster, _ string, g *gray) func() { return set(&g.disk.full, &g.log) },
	},
	"store refuses writes": {
		// A store looks at its disk every second, and its node at the store every 250 ms.
		within: replica.HandOverRefusing + 2*time.Second, reads: true, check: "writes",
		begin: func(_ *virtualCluster, _ string, g *gray) func() { return set(&g.disk.low) },
	},
	"store has failed": {
		within: replica.HandOverFailed + 5*time.Second, check: "writes",
		begin: func(_ *virtualCluster, _ string, g *gray) func() { return set(&g.disk.full) },
	},
	"disk stalls": {
		within: replica.StalledAfter + 5*time.Second, check: "disk",
		begin: func(_ *virtualCluster, _ string, g *gray) func() { return g.disk.stall() },
	},
	"table is stuck": {
		within: 5 * time.Second, check: "lease",
		begin: func(_ *virtualCluster, _ string, g *gray) func() { return g.hang() },
	},
	"accepts no connections": {
		within: lease.Length + 5*time.Second, check: "lease",
		begin: func(c *virtualCluster, id string, _ *gray) func() {
			// The leader's connections last: it would notice otherwise that no heartbeat arrives.
			return c.shutBus(id, leaderSeen(c, id))
		},
	},
	"accepts no connections, and those to it break": {
		within: lease.Length + 5*time.Second, check: "lease",
		begin: func(c *virtualCluster, id string, _ *gray) func() { return c.shutBus(id, "") },
	},
	"clock stands still": {
		within: 5 * time.Second, check: "lease",
		begin: func(c *virtualCluster, id string, g *gray) func() {
			g.clock.Store(int64(c.nodes[id].cfg.env.Now()))
			return func() { g.clock.Store(0) }
		},
	},
}

// leaderSeen returns the leader, as far as a node knows it.
func leaderSeen(c *virtualCluster, id string) string {
	leader, _ := c.nodes[id].cluster.table.Leader()
	return leader
}

// shutBus lets the bus of a node accept no connections, and ends those that others have made to it,
// but for one of them. Its own connections go on.
func (c *virtualCluster) shutBus(id, but string) (end func()) {
	ip := c.nodes[id].ip
	addr := ip + ":16379"
	c.net.Shut(addr, true)
	for other, v := range c.nodes {
		if other != but {
			c.net.Break(addr, v.ip)
		}
	}
	return func() { c.net.Shut(addr, false) }
}

// A node that lives and gossips but cannot serve is replaced like a dead one, whether it
// leads the table or not, and returns once it can serve again.
func TestNodeThatCannotServeIsReplaced(t *testing.T) {
	randomtest.Draw(t, 3)
	played := 0
	for name, state := range grayStates { // -short plays one of them, in the map's random order
		if played++; testing.Short() && played > 1 {
			break
		}
		cases := []bool{false, true}
		if os.Getenv("RINGSIDE_LONG") == "" {
			cases = []bool{rand.IntN(2) == 0} // each in half of the runs
		}
		for _, leads := range cases {
			t.Run(fmt.Sprintf("%s, leads %v", name, leads), func(t *testing.T) {
				virtually(t, 1, func(t *testing.T, seed uint64) { replacesGray(t, seed, state, leads) })
			})
		}
	}
}

func replacesGray(t *testing.T, seed uint64, state grayState, leads bool) {
	c, of := grayCluster(t, seed)
	leader := c.leader()
	victim := leader
	if !leads {
		victim = c.other(leader)
	}
	through := c.other(leader, victim)
	key, client := c.ownKey(victim), c.client(through)
	defer func() { _ = client.Close() }()
	if err := client.Set(t.Context(), key, "before", 0).Err(); err != nil {
		t.Fatal(err)
	}
	c.say("%s loses it, %s leads", victim, c.leader())
	began := time.Now()
	end := state.begin(c, victim, of[victim])
	// Something is decided, which the victim has to follow.
	decided := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		for {
			_, err := c.nodes[through].cluster.table.Apply(ctx, &table.SetMoves{Throttle: new(int64)})
			if !errors.Is(err, table.ErrUnknownOutcome) {
				decided <- err
				return
			}
		}
	}()
	for {
		got, read := client.Get(t.Context(), key).Result()
		if state.reads && read != nil {
			t.Errorf("a read %v after the fault: %v", time.Since(began), read)
		}
		if read == nil && got != "before" && got != "after" {
			t.Errorf("read %q", got)
		}
		err := client.Set(t.Context(), key, "after", 0).Err()
		if row, _ := c.nodes[through].cluster.table.State().Row(c.nodes[through].cluster.strategy.Token([]byte(key))); err == nil && row.Primary != victim {
			break
		}
		if time.Since(began) > time.Minute {
			c.tell()
			t.Fatalf("no write after a minute: %v, %v", read, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	took := time.Since(began)
	c.say("the key is served by another node after %v", took)
	if took > state.within {
		c.tell()
		t.Errorf("the key was away for %v, may be for %v", took, state.within)
	}
	time.Sleep(time.Until(began.Add(replica.StalledAfter + time.Second))) // the table may notice a stall before that
	c.notReady(victim, state.check)
	if err := <-decided; err != nil {
		t.Errorf("an entry: %v", err)
	}
	end()
	c.copied(1)
	c.ready(victim)
	if got, err := client.Get(t.Context(), key).Result(); err != nil || got != "after" {
		t.Errorf("after the fault: %q, %v", got, err)
	}
	c.close()
}

// The only voter cannot apply what it decides, so it does not hear that it is replaced: it answers
// for none of its keys from before the other node can.
func TestOnlyVoterStopsAnsweringWhenItIsReplaced(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		of := map[string]*gray{"a": {}, "b": {}}
		c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) {
			of[cfg.ID].under(cfg)
			cfg.ForwardTimeout = time.Second
		})
		c.start("a")
		c.start("b", "a")
		c.settled()
		c.backups(1)
		c.inSync(1)
		key, at, other := c.keyAt("a", "b"), c.client("a"), c.client("b")
		defer func() { _, _ = at.Close(), other.Close() }()
		if err := at.Set(t.Context(), key, "before", 0).Err(); err != nil {
			t.Fatal(err)
		}
		end := of["a"].hang()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		go func() { _, _ = c.nodes["b"].cluster.table.Apply(ctx, &table.SetMoves{Throttle: new(int64)}) }()
		c.within(30*time.Second, "b answers for the key", func() bool {
			row, _ := c.nodes["b"].cluster.table.State().Row(c.nodes["b"].cluster.strategy.Token([]byte(key)))
			return row.Primary == "b" && other.Set(t.Context(), key, "after", 0).Err() == nil
		})
		for range 5 {
			if got, err := at.Get(t.Context(), key).Result(); err == nil && got != "after" {
				t.Errorf("the node that was replaced answers %q", got)
			}
			time.Sleep(100 * time.Millisecond)
		}
		end()
		c.within(time.Minute, "both nodes answer", func() bool {
			got, err := at.Get(t.Context(), key).Result()
			return err == nil && got == "after"
		})
		c.ready("a")
		c.close()
	})
}
