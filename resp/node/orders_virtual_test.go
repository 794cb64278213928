package node

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// TestOrdersOfCutOffLeaderAnswerUnknown sends orders to the leader of the table when it has just been cut off: it
// proposes them, and no node can tell whether they will be applied. Once it is known that there is no majority, they
// are refused.
func TestOrdersOfCutOffLeaderAnswerUnknown(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, fewerRanges)
		c.three()
		c.within(time.Minute, "all have votes", func() bool { return len(c.nodes["a"].cluster.table.Voters()) == 3 })
		for _, id := range c.running() {
			c.ready(id)
		}
		lead := c.leader()
		c.order(lead, "FUNCTION", "LOAD", "#!lua name=old\nredis.register_function('f', function() return 1 end)")
		c.order(lead, "ACL", "SETUSER", "bob", "on")
		orders := [][]any{
			{"FUNCTION", "LOAD", "#!lua name=lib\nredis.register_function('g', function() return 1 end)"},
			words("FUNCTION DELETE old"), words("FUNCTION FLUSH"), words("ACL SETUSER alice on"), words("ACL DELUSER bob"),
			words("RING PAUSE"), words("RING THROTTLE 5mb"), words("RING BACKUPS 2"), words("RING DATABASES 20"),
			words("RING STRATEGY ketama"), words("RING BALANCE LOAD ON"), words("RING DATABASE 0 QUOTA 1gb"), words("RING LEAVE"),
		}
		all := func(want string) {
			t.Helper()
			var sent sync.WaitGroup
			for _, order := range orders {
				sent.Go(func() {
					if _, err := c.do(lead, order...); err == nil || !strings.HasPrefix(err.Error(), want) {
						t.Errorf("%v: %v, want %s", order, err, want)
					}
				})
			}
			sent.Wait()
		}
		for _, id := range c.running() {
			if id != lead {
				c.net.Move(1, c.nodes[id].ip)
			}
		}
		all("UNKNOWN ")
		time.Sleep(10 * time.Second)
		all("ERR ")
		c.close()
	})
}
