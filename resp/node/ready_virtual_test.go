package node

import (
	"strings"
	"testing"
	"time"
)

// A node that answers writes with NOREPLICAS is not ready, at its first start and later.
func TestReadinessFailsWhileCopiesAreTooFew(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			fewerRanges(cfg)
			cfg.MinInSync, cfg.ForwardTimeout, cfg.RereplicateAfter = 2, 3*time.Second, time.Hour
		})
		refused := func() {
			t.Helper()
			c.within(time.Minute, "writes are refused", func() bool {
				_, err := c.do("a", "SET", "key", "1")
				return err != nil && strings.HasPrefix(err.Error(), "NOREPLICAS ")
			})
			c.notReady("a", "copies")
			if err := c.nodes["a"].Ready(); err == nil || !strings.Contains(err.Error(), "min-in-sync") {
				t.Errorf("the node is ready, or tells another reason: %v", err)
			}
		}
		c.start("a")
		refused() // alone
		c.start("b", "a")
		c.settled()
		c.inSync(1)
		c.ready("a")
		c.ready("b")

		c.say("b crashes")
		c.crash("b") // only a has a vote
		refused()
		c.start("b", "a")
		c.inSync(1)
		c.ready("a")
		c.ready("b")
		if _, err := c.do("a", "SET", "key", "2"); err != nil {
			t.Error(err)
		}
		c.close()
	})
}
