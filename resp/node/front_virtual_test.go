package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/replica/table"
)

// backed opens three nodes that keep one backup of everything.
func (c *virtualCluster) backed() {
	c.t.Helper()
	c.three()
	if _, err := c.nodes[c.leader()].cluster.table.Apply(c.t.Context(), &table.SetBackups{Backups: 1}); err != nil {
		c.t.Fatal(err)
	}
	c.inSync(1)
}

// inSync waits until every range has so many backups.
func (c *virtualCluster) inSync(backups int) {
	c.t.Helper()
	end := time.Now().Add(2 * time.Minute)
	for {
		fewest, at := 255, ""
		for _, id := range c.running() {
			for row := range c.nodes[id].cluster.table.State().Rows() {
				if n := len(row.Backups); n < fewest {
					fewest, at = n, fmt.Sprintf("%s: %v", id, row)
				}
			}
		}
		if fewest >= backups {
			return
		}
		if time.Now().After(end) {
			c.tell()
			c.t.Fatalf("a range has %d backups at %s", fewest, at)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// keyAt is a key of which one node is the primary and another the backup.
func (c *virtualCluster) keyAt(primary, backup string) string {
	c.t.Helper()
	cl := c.nodes[primary].cluster
	for i := range 10000 {
		key := fmt.Sprint("key", i)
		row, ok := cl.table.State().Row(cl.strategy.Token([]byte(key)))
		if ok && row.Primary == primary && slices.Equal(row.Backups, []string{backup}) {
			return key
		}
	}
	c.t.Fatalf("%s serves nothing that %s has", primary, backup)
	return ""
}

// Whoever asks through another node sees a pause while a node is replaced that died, or
// stands still, and no error but that of a write that may have been made.
func TestForwardedRequestsPauseWhileANodeIsReplaced(t *testing.T) {
	for name, frozen := range map[string]bool{"killed": false, "stands still": true} {
		t.Run(name, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
				c.backed()
				victim, other := "b", "c"
				key := c.ownKey(victim)
				client := c.client(other)
				if err := client.Set(t.Context(), key, 0, 0).Err(); err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(context.Background())
				var done sync.WaitGroup
				var slowest [2]time.Duration
				unknown := 0
				pause := time.Millisecond
				if isBrief() {
					pause *= 10
				}
				for i, do := range []func() error{
					func() error { return client.Get(context.Background(), key).Err() },
					func() error { return client.Incr(context.Background(), key).Err() },
				} {
					done.Go(func() {
						for ctx.Err() == nil {
							began := time.Now()
							err := do()
							slowest[i] = max(slowest[i], time.Since(began))
							var reply redis.Error
							switch {
							case err == nil:
							case i == 1 && errors.As(err, &reply) && strings.HasPrefix(err.Error(), "UNKNOWN "):
								unknown++
							default:
								t.Errorf("after %v: %v", time.Since(began), err)
							}
							time.Sleep(pause)
						}
					})
				}
				time.Sleep(time.Second)
				if frozen {
					c.net.Freeze(c.nodes[victim].ip, true)
				} else {
					c.crash(victim)
				}
				time.Sleep(8 * time.Second)
				cancel()
				done.Wait()
				if slowest[0] > 5*time.Second || slowest[1] > 5*time.Second || slowest[0] < time.Second || unknown > 1 {
					t.Errorf("the slowest took %v, %d writes are unknown", slowest, unknown)
				}
				t.Logf("the slowest took %v, %d writes are unknown", slowest, unknown)
				_ = client.Close()
				c.net.Freeze(c.nodes[victim].ip, false)
				c.close()
			})
		})
	}
}

// With two copies demanded, a write that no backup can take is refused, and what one might
// have had is not shown, until there is a backup again.
func TestTooFewInSync(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.MinInSync, cfg.ForwardTimeout = 2, 3*time.Second })
		c.start("a")
		c.start("b", "a")
		c.start("w", "a") // so that there is a majority without b
		c.settled()
		for end := time.Now().Add(time.Minute); len(c.nodes["a"].cluster.table.Voters()) < 3; time.Sleep(100 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("not everyone has a vote")
			}
		}
		c.inSync(1)
		key, client := c.ownKey("a"), c.client("a")
		if err := client.Set(t.Context(), key, 1, 0).Err(); err != nil {
			t.Error(err)
		}
		row, _ := c.nodes["a"].cluster.table.State().Row(c.nodes["a"].cluster.strategy.Token([]byte(key)))
		backup := row.Backups[0]
		c.net.Freeze(c.nodes[backup].ip, true)
		pending := make(chan error, 1)
		go func() { pending <- client.Set(context.Background(), key, 2, 0).Err() }()
		time.Sleep(2 * time.Second) // it is released
		other := c.client("a")
		if err := other.Set(t.Context(), key, 3, 0).Err(); err == nil || !strings.HasPrefix(err.Error(), "NOREPLICAS ") {
			t.Errorf("with too few: %v", err)
		}
		if err := other.Get(t.Context(), key).Err(); err == nil || !strings.HasPrefix(err.Error(), "TRYAGAIN ") {
			t.Errorf("a reader of what is pending: %v", err)
		}
		if err := <-pending; err == nil || !strings.HasPrefix(err.Error(), "UNKNOWN ") {
			t.Errorf("pending: %v", err)
		}
		c.net.Freeze(c.nodes[backup].ip, false)
		c.inSync(1)
		if v, err := other.Get(t.Context(), key).Int(); v != 2 || err != nil {
			t.Errorf("afterwards: %v, %v", v, err)
		}
		if err := other.Set(t.Context(), key, 4, 0).Err(); err != nil {
			t.Error(err)
		}
		_, _ = client.Close(), other.Close()
		c.close()
	})
}

func TestWaitAndRingAckOverNodes(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.backed()
		client := c.client("a")
		conn := client.Conn()
		for _, id := range c.running() {
			if err := conn.Set(t.Context(), c.ownKey(id), 1, 0).Err(); err != nil {
				t.Error(err)
			}
		}
		if n, err := conn.Wait(t.Context(), 1, time.Second).Result(); n != 1 || err != nil {
			t.Errorf("WAIT: %d, %v", n, err)
		}
		if n, err := conn.Wait(t.Context(), 2, time.Second).Result(); n != 1 || err != nil {
			t.Errorf("WAIT 2: %d, %v", n, err)
		}
		if err := conn.Do(t.Context(), "RING", "ACK", "primary").Err(); err != nil {
			t.Error(err)
		}
		key := c.keyAt("b", "c")
		c.net.Freeze(c.nodes["c"].ip, true)
		began := time.Now()
		if err := conn.Set(t.Context(), key, 2, 0).Err(); err != nil || time.Since(began) > 500*time.Millisecond {
			t.Errorf("the primary alone: %v after %v", err, time.Since(began))
		}
		if n, err := conn.Wait(t.Context(), 1, 100*time.Millisecond).Result(); n != 0 || err != nil {
			t.Errorf("WAIT without the backup: %d, %v", n, err)
		}
		c.net.Freeze(c.nodes["c"].ip, false)
		if n, err := conn.Wait(t.Context(), 1, 0).Result(); n != 1 || err != nil {
			t.Errorf("WAIT with the backup: %d, %v", n, err)
		}
		_, _ = conn.Close(), client.Close()
		c.close()
	})
}

// Two stores and a witness: whichever of the three dies, the others go on.
func TestTwoStoresAndAWitness(t *testing.T) {
	for _, victim := range []string{"a", "b", "w"} {
		t.Run(victim, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
					if cfg.ID == "w" {
						cfg.Role, cfg.env.Store = RoleWitness, nil
					}
				})
				c.start("a")
				c.start("b", "a")
				c.start("w", "a")
				for end := time.Now().Add(time.Minute); len(c.nodes["a"].cluster.table.Voters()) < 3; time.Sleep(100 * time.Millisecond) {
					if time.Now().After(end) {
						t.Fatal("not everyone has a vote")
					}
				}
				c.inSync(1)
				time.Sleep(2 * time.Second)
				for row := range c.nodes["a"].cluster.table.State().Rows() {
					if row.Primary == "w" || slices.Contains(row.Backups, "w") || slices.Contains(row.Learners, "w") {
						t.Fatalf("the witness has a copy: %v", row)
					}
				}
				keys := []string{c.ownKey("a"), c.ownKey("b")}
				through := c.client("w") // as through a proxy
				for _, key := range keys {
					if err := through.Set(t.Context(), key, 1, 0).Err(); err != nil {
						t.Error(err)
					}
				}
				_ = through.Close()
				c.crash(victim)
				for _, id := range c.running() {
					client := c.client(id)
					for _, key := range keys {
						began := time.Now()
						if n, err := client.Incr(t.Context(), key).Result(); n < 2 || err != nil {
							t.Errorf("through %s: %d, %v", id, n, err)
						}
						if took := time.Since(began); took > 5*time.Second {
							t.Errorf("through %s: after %v", id, took)
						}
					}
					_ = client.Close()
				}
				c.close()
			})
		})
	}
}
