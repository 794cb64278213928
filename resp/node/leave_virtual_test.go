package node

import (
	"context"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/ring/strategy"
)

// Who leaves is gone once nobody needs it any more, and waits for nothing that it can only
// hear as a member: not the node that leads either.
func TestLeavingEndsWithoutATimeout(t *testing.T) {
	virtually(t, 4, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 60*time.Millisecond, 0, func(cfg *Config) { cfg.Strategy = strategy.VNode }) // few ranges
		c.three()
		c.backups(1)
		keys := someKeys(60)
		c.write("a", keys, 1)
		for _, leads := range []bool{false, true} {
			victim := c.leader()
			for _, id := range c.running() {
				if !leads && id != c.leader() {
					victim = id
				}
			}
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := c.nodes[victim].Leave(ctx)
			cancel()
			// It takes up to 5 s in this network, and all of forgetTime more if it waits.
			if took := time.Since(began); err != nil || took >= forgetTime+2*time.Second {
				t.Errorf("%s, which leads (%v), leaves within %v: %v", victim, leads, took, err)
			}
			c.nodes[victim].leaves = true
			c.stop(victim)
			c.settled()
		}
		c.read(keys)
		c.close()
	})
}
