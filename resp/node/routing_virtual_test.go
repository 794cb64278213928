package node

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/ringside-kv/ringside/internal/durations"
)

// The table may name a node before gossip does, or longer. Requests for its keys wait for some seconds then; they are
// not told that no node has them.
func TestRequestsWaitForPrimaryThatGossipDoesNotKnow(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 0 })
		c.three()
		key := c.ownKey("b")
		if _, err := c.do("b", "SET", key, "value"); err != nil {
			t.Fatal(err)
		}
		c.crash("b")
		a := c.nodes["a"].cluster
		c.within(time.Minute, "b is forgotten in gossip", func() bool { return a.members.Forget("b") == nil })
		forgotten := time.Now()
		if text, err := c.do("a", "GET", key); err == nil || err.Error() != "CLUSTERDOWN no copy of the key is there" {
			t.Errorf("without b: %q, %v", text, err)
		}
		if waited := time.Since(forgotten); waited < gossipDelay/2 || waited > 2*gossipDelay {
			t.Errorf("it waited for %v", waited)
		}
		c.start("b", "a")
		c.within(time.Minute, "b serves again", func() bool {
			_, err := c.do("a", "GET", key)
			return err == nil
		})
		c.crash("b")
		c.within(time.Minute, "b is forgotten in gossip", func() bool { return a.members.Forget("b") == nil })
		reply := make(chan string, 1)
		go func() {
			text, err := c.do("a", "GET", key)
			reply <- fmt.Sprint(text, " ", err)
		}()
		time.Sleep(gossipDelay / 2)
		c.start("b", "a")
		if got := <-reply; got != "value <nil>" {
			t.Errorf("b comes back: %s", got)
		}
		c.close()
	})
}

// How long clients waited is measured where they are connected, from the request to the reply: with the way to other
// nodes, and with backups' acknowledgements.
func TestRequestDurationIncludesOtherNodes(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 10*time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 0 })
		c.three()
		client := c.client("a")
		defer func() { _ = client.Close() }()
		own, others := c.ownKey("a"), []string{c.ownKey("b"), c.ownKey("c")}
		for range 3 {
			if err := client.Get(t.Context(), own).Err(); err != redis.Nil {
				t.Error(err)
			}
		}
		pipe := client.Pipeline()
		for _, key := range append(others, own) {
			pipe.Set(t.Context(), key, "value", 0)
		}
		if _, err := pipe.Exec(t.Context()); err != nil {
			t.Error(err)
		}
		if err := client.MGet(t.Context(), append(others, own)...).Err(); err != nil {
			t.Error(err)
		}
		synctest.Wait() // a reply is counted once it has left
		got := make(map[string]uint64)
		for _, id := range c.running() {
			c.nodes[id].server.EachAnswered(func(command string, calls durations.Histogram) {
				if slices.Contains([]string{"get", "set", "mget"}, command) {
					got[id+" "+command] = calls.Count
					// Time passes on the way to other nodes only, as little as chance has it.
					if mean := calls.Sum / float64(calls.Count); command == "get" && mean > 0 || command != "get" && mean <= 0 {
						t.Errorf("%s took %v s", command, mean)
					}
				}
			})
		}
		if want := map[string]uint64{"a get": 3, "a set": 3, "a mget": 1}; !maps.Equal(got, want) {
			t.Errorf("%v instead of %v", got, want)
		}
		c.close()
	})
}
