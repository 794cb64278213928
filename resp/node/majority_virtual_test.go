package node

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"
)

// Without a majority every command is answered with an error, also those on all keys and
// orders. None waits longer than the forward timeout, and once the loss is known none waits
// for a majority. The node is not ready meanwhile, and says why.
func TestWithoutAMajorityAllIsRefusedInTime(t *testing.T) {
	commands := []string{
		"KEYS *", "FLUSHALL", "GET k", "SET k v", "MGET a b c d e f", "DBSIZE", "RANDOMKEY", "SCAN 0",
		"RING BACKUPS 0", "RING PAUSE", "RING THROTTLE 0", "RING LEAVE", "RING RECREATE ALL", "RING FORGET b",
	}
	crash := func(c *virtualCluster, id string) { c.crash(id) }
	restart := func(c *virtualCluster, id string) { c.start(id, c.running()[0]) }
	freeze := func(on bool) func(c *virtualCluster, id string) {
		return func(c *virtualCluster, id string) { c.net.Freeze(c.nodes[id].ip, on) }
	}
	side := func(n int) func(c *virtualCluster, id string) {
		return func(c *virtualCluster, id string) { c.net.Move(n, c.nodes[id].ip) }
	}
	for name, is := range map[string]struct {
		stores      []string // the other voters of a, b and c are witnesses
		away        []string
		leave, come func(c *virtualCluster, id string)
		ask         []string // p is a proxy
	}{
		"crashed":           {[]string{"a", "b", "c"}, []string{"b", "c"}, crash, restart, []string{"a", "p"}},
		"stand still":       {[]string{"a", "b", "c"}, []string{"b", "c"}, freeze(true), freeze(false), []string{"a", "p"}},
		"cut off":           {[]string{"a", "b"}, []string{"b", "c"}, side(1), side(0), []string{"a", "p"}},
		"a witness is left": {[]string{"a", "b"}, []string{"a", "b"}, crash, restart, []string{"c", "p"}},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) {
					fewerRanges(cfg)
					switch {
					case cfg.ID == "p":
						cfg.Role, cfg.env.Store = RoleProxy, nil
					case !slices.Contains(is.stores, cfg.ID):
						cfg.Role, cfg.env.Store = RoleWitness, nil
					}
				})
				c.start("a")
				c.start("b", "a")
				c.start("c", "a")
				c.start("p", "a")
				c.within(time.Minute, "all have votes", func() bool { return len(c.nodes["a"].cluster.table.Voters()) == 3 })
				c.inSync(1)
				for _, id := range c.running() {
					c.ready(id)
				}
				for _, id := range is.away {
					is.leave(c, id)
				}
				settled := time.Now().Add(5 * time.Second)
				refused := func(id, command string, bound time.Duration) error {
					client := c.client(id)
					defer client.Close()
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					defer cancel()
					began := time.Now()
					err := client.Do(ctx, words(command)...).Err()
					if took := time.Since(began); err == nil || took > bound {
						t.Errorf("%s at %s: %v after %v", command, id, err, took)
					}
					return err
				}
				for _, command := range commands[:3] {
					_ = refused(is.ask[0], command, 11*time.Second)
				}
				time.Sleep(time.Until(settled))
				for _, id := range is.ask {
					c.notReady(id, "lease")
					for _, command := range commands {
						if err := refused(id, command, 2500*time.Millisecond); err != nil && strings.Contains(err.Error(), "i/o timeout") {
							t.Errorf("%s at %s: %v", command, id, err)
						}
					}
				}
				for _, id := range is.away {
					is.come(c, id)
				}
				c.write(is.ask[0], someKeys(3), 1)
				for _, id := range is.ask {
					c.ready(id)
				}
				c.close()
			})
		})
	}
}

// notReady fails unless a check of a node does not hold.
func (c *virtualCluster) notReady(id, check string) {
	c.t.Helper()
	for _, is := range c.nodes[id].health.Checks() {
		if is.Name == check && is.Err != nil {
			return
		}
	}
	c.t.Errorf("%s: the check %s holds", id, check)
}

func words(command string) (args []any) {
	for word := range strings.FieldsSeq(command) {
		args = append(args, word)
	}
	return args
}
