package node

import (
	"context"
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
	for name, away := range map[string]func(c *virtualCluster, id string){
		"crashed":     func(c *virtualCluster, id string) { c.crash(id) },
		"stand still": func(c *virtualCluster, id string) { c.net.Freeze(c.nodes[id].ip, true) },
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
				c.three()
				for _, id := range []string{"b", "c"} {
					away(c, id)
				}
				settled := time.Now().Add(5 * time.Second)
				for i, command := range append(commands[:3:3], commands...) {
					if i == 3 {
						time.Sleep(time.Until(settled))
						c.notReady("a", "lease")
					}
					client := c.client("a")
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					began := time.Now()
					err := client.Do(ctx, words(command)...).Err()
					took := time.Since(began)
					cancel()
					bound := 2 * time.Second
					if i < 3 {
						bound = 11 * time.Second
					}
					if err == nil || took > bound {
						t.Errorf("%s: %v after %v", command, err, took)
					}
					if i >= 3 && err != nil && strings.Contains(err.Error(), "i/o timeout") {
						t.Errorf("%s: %v", command, err)
					}
					_ = client.Close()
				}
				for _, id := range []string{"b", "c"} {
					if name != "crashed" {
						c.net.Freeze(c.nodes[id].ip, false)
					} else {
						c.start(id, "a")
					}
				}
				c.write("a", someKeys(3), 1)
				c.ready("a")
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
