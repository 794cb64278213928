package node

import (
	"fmt"
	"testing"
	"time"
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
