package node

import (
	"strings"
	"testing"
	"time"
)

// A node that ends while a command waits for the word of one that stands still answers it
// before it ends, and ends in time and in order.
func TestClosingAnswersCommandsThatWaitForAnotherNode(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.ForwardTimeout = 10 * time.Minute })
		c.backed()
		key := c.keyAt("c", "b")
		client := c.client("c")
		defer client.Close()
		if err := client.Set(t.Context(), key, 0, 0).Err(); err != nil {
			t.Fatal(err)
		}
		for _, other := range []string{"a", "b"} {
			c.net.Freeze(c.nodes[other].ip, true)
		}
		waits := make(chan error, 1)
		go func() { waits <- client.Incr(t.Context(), key).Err() }()
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		if err := c.nodes["c"].Close(); err != nil {
			t.Error(err)
		}
		if took, most := time.Since(began), DefaultConfig().StopTimeout; took > most {
			t.Errorf("it took %v", took)
		}
		c.nodes["c"].Node = nil
		if err := <-waits; err == nil || !strings.HasPrefix(err.Error(), "UNKNOWN ") {
			t.Errorf("a write that may have been made: %v", err)
		}
		for _, other := range []string{"a", "b"} {
			c.net.Freeze(c.nodes[other].ip, false)
		}
		c.close()
	})
}

// So does one that has no lease any more, while commands wait for it to get one.
func TestClosingAnswersCommandsThatWaitForALease(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.ForwardTimeout = 10 * time.Minute })
		c.backed()
		key := c.keyAt("c", "b")
		client := c.client("c")
		defer client.Close()
		for _, other := range []string{"a", "b"} {
			c.net.Freeze(c.nodes[other].ip, true)
		}
		time.Sleep(5 * time.Second) // leases are over
		waits := make(chan error, 1)
		go func() { waits <- client.Get(t.Context(), key).Err() }()
		time.Sleep(100 * time.Millisecond)
		if err := c.nodes["c"].Close(); err != nil {
			t.Error(err)
		}
		c.nodes["c"].Node = nil
		if err := <-waits; err == nil || !strings.HasPrefix(err.Error(), "CLUSTERDOWN ") {
			t.Errorf("a read that nobody can answer: %v", err)
		}
		for _, other := range []string{"a", "b"} {
			c.net.Freeze(c.nodes[other].ip, false)
		}
		c.close()
	})
}
