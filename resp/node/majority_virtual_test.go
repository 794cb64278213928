package node

import (
	"context"
	"strings"
	"testing"
	"time"
)

// Without a majority every command is answered with an error, also those on all keys and
// orders, and none waits longer than the forward timeout.
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
				for _, command := range commands {
					client := c.client("a")
					ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
					began := time.Now()
					err := client.Do(ctx, words(command)...).Err()
					took := time.Since(began)
					cancel()
					if err == nil || took > 11*time.Second {
						t.Errorf("%s: %v after %v", command, err, took)
					}
					_ = client.Close()
				}
				for _, id := range []string{"b", "c"} {
					if name != "crashed" {
						c.net.Freeze(c.nodes[id].ip, false)
					}
				}
				c.close()
			})
		})
	}
}

func words(command string) (args []any) {
	for word := range strings.FieldsSeq(command) {
		args = append(args, word)
	}
	return args
}
