package node

import (
	"errors"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/store/memdisk"
)

// A node has joined while its wall clock was an hour ahead. With the right clock and an empty
// directory its first start ends and tells why, and the second one joins.
func TestNodeWithNewDirectoryJoinsAfterItsClockWasAhead(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		ahead := time.Hour
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
			if cfg.ID == "b" {
				by := ahead
				cfg.env.Date = func() time.Time { return time.Now().Add(by) }
			}
		})
		c.start("a")
		c.start("b", "a")
		c.start("c", "a")
		c.settled()
		c.backups(1)
		ahead = 0
		for _, id := range []string{"b", "a", "c"} {
			c.stop(id)
		}
		c.start("a", "c") // gossip has forgotten the start of b, which only the table knows
		c.start("c", "a")
		v := c.nodes["b"]
		v.dir, v.fs = t.TempDir(), memdisk.New()
		c.start("b", "a")
		select {
		case <-v.Done():
		case <-time.After(time.Minute):
			t.Fatalf("the node neither joins nor ends:\n%s", &v.log)
		}
		if !errors.Is(v.Err(), table.ErrIncarnation) {
			t.Errorf("the node ends: %v", v.Err())
		}
		c.stop("b")
		c.start("b", "a")
		c.within(time.Minute, "the node joins", func() bool {
			n, _ := c.nodes["a"].cluster.table.State().Node("b")
			return n.Incarnation == v.cluster.incarnation
		})
		c.copied(1)
		c.close()
	})
}
