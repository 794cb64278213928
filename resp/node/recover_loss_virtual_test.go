package node

import (
	"fmt"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/store"
)

// A primary and its backup end at the same moment, the primary by a loss of power. The primary
// returns without the last writes, and then the majority is lost. The recovery continues at the
// backup, whether the table knows of the loss or only the directory does.
func TestRecoveryPrefersBackupToPrimaryThatLostWrites(t *testing.T) {
	for _, registered := range []bool{true, false} {
		t.Run(fmt.Sprintf("registered %v", registered), func(t *testing.T) {
			randomtest.Draw(t, 3)
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Fsync = string(store.FsyncEverySec) })
				c.three()
				c.backups(1)
				client, key := c.client("a"), c.keyAt("a", "b")
				time.Sleep(3 * time.Second)
				token, last := c.nodes["a"].cluster.strategy.Token([]byte(key)), ""
				for i := range 50 { // most of them after the fsync of this second
					last = fmt.Sprint("value", i)
					if err := client.Set(t.Context(), key, last, 0).Err(); err != nil {
						t.Fatal(err)
					}
				}
				_ = client.Close()
				c.net.Unplug(c.nodes["b"].ip, true) // no failover in between
				c.powerLoss("a")
				c.crash("b")
				if registered {
					before, _ := c.nodes["c"].cluster.table.State().Node("a")
					c.start("a", "c")
					c.within(time.Minute, "the start is registered", func() bool {
						n, _ := c.nodes["c"].cluster.table.State().Node("a")
						return n.Incarnation > before.Incarnation && !n.Intact
					})
					time.Sleep(10 * time.Second) // no failover decides without b
					c.crash("a")
				}
				c.crash("c")
				r, err := Recover([]string{c.nodes["a"].dir, c.nodes["b"].dir}, false)
				if err != nil || r.Doubtful != 0 && r.Incomplete[0] != "a" {
					t.Fatalf("%+v, %v", r, err)
				}
				if row, _ := r.State.Row(token); row.Primary != "b" {
					t.Errorf("the range continues at %s", row.Primary)
				}
				c.start("a", "b")
				c.start("b", "a")
				client = c.client("b")
				defer func() { _ = client.Close() }()
				c.within(time.Minute, "the write is there", func() bool {
					got, err := client.Get(t.Context(), key).Result()
					if err == nil && got != last || err != nil && err.Error() == "redis: nil" {
						t.Fatalf("the last write, %s, is lost: %q, %v", last, got, err)
					}
					return err == nil
				})
				c.close()
			})
		})
	}
}
