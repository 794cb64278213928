package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// A node that is killed while its log is failing cannot say that it has all that it has
// acknowledged.
func TestNodeKilledAfterFailedFsyncIsNotIntact(t *testing.T) {
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprintf("fsync fails %v", fails), func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				var d disk
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
					open := cfg.env.Store
					cfg.env.Store = func(sc *store.Config) {
						open(sc)
						sc.FS = d.over(sc.FS)
					}
				})
				c.start("a")
				c.settled()
				client := c.client("a")
				defer func() { _ = client.Close() }()
				if err := client.Set(t.Context(), "key", "value", 0).Err(); err != nil {
					t.Fatal(err)
				}
				d.unsynced.Store(fails)
				time.Sleep(3 * time.Second)
				c.crash("a")
				d.unsynced.Store(false)
				c.start("a")
				c.settled()
				v := c.nodes["a"]
				c.within(10*time.Second, "the start is registered", func() bool {
					self, _ := v.cluster.table.State().Node("a")
					return self.Incarnation == v.run.Incarnation
				})
				if self, _ := v.cluster.table.State().Node("a"); self.Intact == fails {
					t.Errorf("intact: %v", self.Intact)
				}
				c.close()
			})
		})
	}
}
