package node

import (
	"os"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

// While the disks of all nodes stall, no node can take over from another: no node ends, reads
// continue, and writes do without help once the disks answer.
func TestNothingIsLostWhenAllDisksStall(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c, of := grayCluster(t, seed)
		quiet, client := c.ownKey("b"), c.client("a")
		defer func() { _ = client.Close() }()
		if err := client.Set(t.Context(), quiet, "here", 0).Err(); err != nil {
			t.Fatal(err)
		}
		var l nodetest.AppLoad
		closeClients := c.load(&l, seed, true, "a", "b", "c")
		time.Sleep(2 * time.Second)
		var ends []func()
		for _, g := range of {
			ends = append(ends, g.disk.stall())
		}
		c.say("all disks stall, %s leads", c.leader())
		for range 30 {
			time.Sleep(time.Second)
			if got, err := client.Get(t.Context(), quiet).Result(); err != nil || got != "here" {
				t.Errorf("a read while the disks stall: %q, %v", got, err)
			}
		}
		for _, end := range ends {
			end()
		}
		c.say("all disks answer, %s leads", c.leader())
		c.written(5 * time.Second)
		c.copied(1)
		time.Sleep(2 * time.Second)
		l.Stop()
		closeClients()
		if err := client.Do(t.Context(), "DEL", quiet, c.ownKey("a"), c.ownKey("b"), c.ownKey("c")).Err(); err != nil {
			t.Error(err)
		}
		c.check(&l)
		for _, id := range c.running() {
			if err := c.nodes[id].Err(); err != nil {
				t.Errorf("%s ends: %v", id, err)
			}
			c.ready(id)
		}
		if os.Getenv("RINGSIDE_TEST_LOG") == "" && t.Failed() {
			c.tell()
		}
		c.close()
	})
}

// written checks that each node's keys can be written within some time.
func (c *virtualCluster) written(within time.Duration) {
	c.t.Helper()
	began := time.Now()
	for _, id := range c.running() {
		client := c.client(id)
		for {
			err := client.Set(c.t.Context(), c.ownKey(id), id, 0).Err()
			if err == nil {
				break
			}
			if time.Since(began) > within {
				c.t.Errorf("a key of %s cannot be written %v after the disks answer: %v", id, time.Since(began), err)
				break
			}
			time.Sleep(20 * time.Millisecond)
		}
		_ = client.Close()
	}
	c.say("all nodes take writes after %v", time.Since(began))
}
