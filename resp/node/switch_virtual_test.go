package node

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// order sends an order to a node and fails the test if it is refused.
func (c *virtualCluster) order(id string, args ...any) {
	c.t.Helper()
	client := c.client(id)
	defer client.Close()
	if err := client.Do(c.t.Context(), args...).Err(); err != nil {
		c.t.Fatalf("%v: %v", args, err)
	}
}

// strategyOf returns the fields of RING STRATEGY.
func (c *virtualCluster) strategyOf(id string) map[string]string {
	c.t.Helper()
	client := c.client(id)
	defer client.Close()
	text, err := client.Do(c.t.Context(), "RING", "STRATEGY").Text()
	if err != nil {
		c.t.Fatal(err)
	}
	fields := make(map[string]string)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = value
	}
	return fields
}

// switched waits until a switch is over at all nodes.
func (c *virtualCluster) switched(to string) {
	c.t.Helper()
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		open := ""
		for _, id := range c.running() {
			if of := c.nodes[id].cluster.table.State().Cluster(); of.Strategy.Name != to || of.Unfinished {
				open = fmt.Sprintf("%s: %+v", id, of)
			}
		}
		if open == "" {
			return
		}
		if time.Now().After(end) {
			c.tell()
			c.t.Fatalf("the switch to %s does not end: %s", to, open)
		}
	}
}

// TestSwitchOfStrategyLosesAndFailsNothing switches a cluster with clients from strategy to strategy
// and back. No command fails, no reply is wrong, and nothing is lost.
func TestSwitchOfStrategyLosesAndFailsNothing(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		var l nodetest.AppLoad
		closeClients := c.load(&l, seed, false, "a", "b", "c")
		many := strategy.Maglev // which has some 13,000 ranges
		if isOmitted() {
			many = strategy.VNode
		}
		for i, name := range []string{strategy.Ketama, many, strategy.Buckets} {
			c.order(c.running()[i], "RING", "STRATEGY", name)
			c.switched(name)
			c.settled()
			if got := c.strategyOf("a"); got["strategy"] != name || got["founding_strategy"] != "buckets" || got["switching"] != "false" {
				t.Errorf("%v", got)
			}
		}
		l.Stop()
		closeClients()
		c.check(&l)
		if cl := c.client("a"); cl.Do(t.Context(), "HASHMASK").Err() != nil {
			t.Error(cl.Do(t.Context(), "HASHMASK").Err())
		}
		c.close()
	})
}

// TestStrategyIsShownAsAgreed switches the strategy: nodes show the new one, also one that joins later with the settings
// of the founding. A node that is in no cluster shows that it knows of none.
func TestStrategyIsShownAsAgreed(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			fewerRanges(cfg)
			if cfg.ID == "alone" {
				cfg.Join = []string{"10.9.9.9:7379"}
			}
		})
		c.start("a")
		c.settled()
		shows := func(id, want string) {
			t.Helper()
			client := c.client(id)
			defer client.Close()
			if got, err := client.ConfigGet(t.Context(), "strategy").Result(); err != nil || got["strategy"] != want {
				t.Errorf("CONFIG GET at %s: %q, %v, want %s", id, got, err, want)
			}
			for _, args := range [][]any{{"INFO", "ringside"}, {"RING", "INFO"}} {
				if text, err := c.do(id, args...); err != nil || !strings.Contains(text, "strategy:"+want+"\r\n") {
					t.Errorf("%v at %s does not show %s: %v\n%s", args, id, want, err, text)
				}
			}
			n := c.nodes[id]
			if want == "unknown" {
				want = ""
			}
			if n.Strategy() != want || factsOf(n.cluster).Strategy() != want {
				t.Errorf("the banner of %s shows %q, its metrics %q, want %q", id, n.Strategy(), factsOf(n.cluster).Strategy(), want)
			}
		}
		shows("a", "buckets")
		c.order("a", "RING", "STRATEGY", "vnode")
		c.switched("vnode")
		shows("a", "vnode")
		c.start("b", "a")
		c.settled()
		shows("b", "vnode")
		c.start("alone")
		time.Sleep(10 * time.Second)
		shows("alone", "unknown")
		c.close()
	})
}

// refusedUnchanged gives an order that must fail with a reason and change nothing of the table.
func (c *virtualCluster) refusedUnchanged(id, want string, of func(*table.State) any, args ...any) {
	c.t.Helper()
	state := func() any { return of(c.nodes[id].cluster.table.State()) }
	before := state()
	client := c.client(id)
	defer client.Close()
	if err := client.Do(c.t.Context(), args...).Err(); err == nil || !strings.Contains(err.Error(), want) {
		c.t.Errorf("%v: %v, want %q", args, err, want)
	}
	if after := state(); after != before {
		c.t.Errorf("%v: %+v", args, after)
	}
}

// TestSwitchIsRefusedWithReason gives wrong orders. Nothing changes.
func TestSwitchIsRefusedWithReason(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		refused := func(want string, args ...any) {
			t.Helper()
			c.refusedUnchanged("a", want, func(st *table.State) any { return st.Cluster() }, args...)
		}
		for _, command := range [][]any{{"RING", "STRATEGY"}, {"RING", "PLAN", "STRATEGY"}} {
			with := func(args ...any) []any { return append(slices.Clone(command), args...) }
			refused("unknown strategy", with("nosuch")...)
			refused("the strategy is buckets with these settings already", with("BUCKETS")...)
			refused("not a multiple of 4", with("ketama", "POINTS", "7")...)
			refused("not a whole number above 0", with("vnode", "VNODES", "0")...)
			refused("not from 1 to 65536", with("vnode", "VNODES", "1000000")...)
			refused("unknown ketama rule", with("ketama", "KETAMA-RULE", "x")...)
			refused("bad number of probes: 257 is not from 1 to 256", with("multiprobe", "PROBES", "257")...)
			refused("bad slack: 20 is not from 0.001 to 10", with("bounded", "SLACK", "20")...)
			refused("\"0\" is not a number above 0", with("bounded", "SLACK", "0")...)
			refused("bad mask", with("buckets", "MASK", "00F0")...)
			refused("ketama has no setting \"vnodes\", but points and ketama-rule", with("ketama", "vnodes", "4")...)
			refused("maglev has no setting \"points\", and no other", with("maglev", "points", "4")...)
			refused("points has no value", with("ketama", "points")...)
		}
		// The hash is that of buckets, so ketama is not exact to libketama, and the plan does not say so.
		if plan := c.ask("a", "RING", "PLAN", "STRATEGY", "ketama"); strings.Contains(plan, "exact to") {
			t.Error(plan)
		}
		c.order("a", "RING", "STRATEGY", "ketama")
		c.switched("ketama")
		refused("HASHMASK is of the strategy buckets, this cluster has ketama", "HASHMASK")
		refused("points are of strategy vnode, this cluster has ketama", "RING", "PIN", "a=1")
		for _, id := range []string{"b", "c"} {
			c.stop(id)
		}
		time.Sleep(10 * time.Second) // a leader without a majority steps down
		refused("nothing has changed", "RING", "STRATEGY", "buckets")
		c.close()
	})
}

// TestOlderBuildTakesNoPartInSwitch has a node that does not understand the entry of a switch. As long as
// it is there the switch is refused. After a switch it is refused.
func TestOlderBuildTakesNoPartInSwitch(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		old := bus.Versions{Oldest: 3, Newest: bus.SwitchVersion - 1}
		speaks := map[string]bus.Versions{"c": old}
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.env.Versions, cfg.Databases = speaks[cfg.ID], 1 })
		c.three()
		client := c.client("a")
		defer client.Close()
		err := client.Do(t.Context(), "RING", "STRATEGY", "ketama").Err()
		if err == nil || !strings.Contains(err.Error(), "the build of node c cannot switch strategies: upgrade it first") {
			t.Errorf("with an older node: %v", err)
		}
		c.stop("c")
		delete(speaks, "c")
		c.start("c", "a")
		c.ready("c")
		c.order("a", "RING", "STRATEGY", "ketama")
		c.switched("ketama")
		speaks["d"] = old
		c.start("d", "a")
		time.Sleep(10 * time.Second)
		if c.nodes["d"].cluster.entry.entered.Load() || !strings.Contains(c.nodes["d"].log.String(), "of the bus protocol, the peer") {
			t.Errorf("the older node: %s", &c.nodes["d"].log)
		}
		c.stop("d")
		delete(speaks, "d")
		c.start("d", "a")
		c.ready("d")
		c.settled()
		c.close()
	})
}

// TestSwitchGoesOnAfterRestartsAndOrders interrupts a switch: it is paused, throttled, its nodes stop,
// the leader crashes, it is switched elsewhere and back, and settings change.
func TestSwitchGoesOnAfterRestartsAndOrders(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		var l nodetest.AppLoad
		closeClients := c.load(&l, seed, true, "a", "b", "c")
		c.order("a", "RING", "PAUSE")
		c.order("a", "RING", "STRATEGY", "ketama", "POINTS", "40")
		time.Sleep(10 * time.Second)
		if got := c.strategyOf("b"); got["switching"] != "true" || got["paused"] != "true" || got["ranges_left"] == "0" || got["points"] != "40" {
			t.Errorf("while paused: %v", got)
		}
		c.stop("b")
		c.start("b", "a")
		c.order("a", "RING", "THROTTLE", "1000000")
		c.order("a", "RING", "RESUME")
		leader, _ := c.nodes["a"].cluster.table.Leader()
		c.crash(leader)
		time.Sleep(3 * time.Second)
		others := c.running()
		c.order(others[0], "RING", "STRATEGY", "vnode", "VNODES", "16")
		time.Sleep(time.Second)
		c.order(others[1], "RING", "STRATEGY", "buckets")
		c.start(leader, others...)
		c.switched("buckets")
		c.order(leader, "RING", "STRATEGY", "buckets", "MASK", "001F")
		c.switched("buckets")
		c.settled()
		for _, id := range c.running() {
			if st := c.nodes[id].cluster.table.State(); st.Len() != 32 {
				t.Errorf("%s sees %d ranges", id, st.Len())
			}
		}
		// All directories know the switches, and nodes start with the settings of the founding.
		for _, id := range c.running() {
			c.stop(id)
		}
		for _, id := range []string{"a", "b", "c"} {
			c.start(id, "a", "b", "c")
		}
		for _, id := range c.running() {
			c.ready(id)
		}
		if got := c.strategyOf("c"); got["strategy"] != "buckets" || got["mask"] != "001F" || got["switching"] != "false" {
			t.Errorf("after a restart: %v", got)
		}
		c.settled()
		time.Sleep(time.Second)
		l.Stop()
		closeClients()
		c.check(&l)
		c.close()
	})
}
