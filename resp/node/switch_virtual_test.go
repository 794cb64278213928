package node

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		c.backups(1)
		var l nodetest.AppLoad
		closeClients := c.load(&l, seed, false, "a", "b", "c")
		for i, name := range []string{strategy.Ketama, strategy.VNode, strategy.Buckets} {
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
