package node

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/store"
)

// A node of a cluster that lost the files of its store does not start, whatever else it has
// kept. With an empty directory it starts, gets back what others have, and what nobody else has
// is refused until RING RECREATE.
func TestNodeOfClusterThatLostItsStoreIsRefused(t *testing.T) {
	for _, backups := range []int{0, 1} {
		t.Run(fmt.Sprintf("%d backups", backups), func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, 5*time.Millisecond, 0, func(cfg *Config) { cfg.Backups = backups })
				c.three()
				c.inSync(backups)
				leader := c.leader()
				victim := "a"
				if leader == "a" {
					victim = "b"
				}
				key, client := c.ownKey(victim), c.client(leader)
				defer func() { _ = client.Close() }()
				if err := client.Set(t.Context(), key, "value", 0).Err(); err != nil {
					t.Fatal(err)
				}
				c.stop(victim)
				v := c.nodes[victim]
				for _, name := range []string{"data", "log", "log-marks"} {
					if err := v.fs.RemoveAll(v.fs.PathJoin("data", name)); err != nil {
						t.Fatal(err)
					}
				}
				for range 2 { // the refusal changes nothing
					_, err := c.tryStart(victim, leader)
					for _, word := range []string{"tables and logs are gone", "RING RECREATE", "copy"} {
						if !errors.Is(err, store.ErrDamaged) || !strings.Contains(err.Error(), word) {
							t.Fatalf("%q is not in %v", word, err)
						}
					}
				}
				time.Sleep(20 * time.Second)
				get := func() string {
					value, err := client.Get(t.Context(), key).Result()
					if err != nil {
						return err.Error()
					}
					return value
				}
				if backups > 0 {
					c.within(time.Second, "the backup serves the key", func() bool { return get() == "value" })
				} else {
					c.wantDown(key)
				}
				c.renewed(victim, leader)
				c.within(time.Minute, "it is in the cluster", func() bool { return c.nodes[victim].cluster.entry.entered.Load() })
				want := "value"
				if backups == 0 {
					time.Sleep(40 * time.Second)
					c.wantDown(key)
					if err := client.Do(t.Context(), "RING", "RECREATE", "ALL").Err(); err != nil {
						t.Fatal(err)
					}
					want = "redis: nil"
				}
				c.within(time.Minute, "the key is served", func() bool { return get() == want })
				c.copied(backups)
				c.close()
			})
		})
	}
}
