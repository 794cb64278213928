package replica

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
)

// halfway starts a handoff from n1 to n2 that goes on for long.
func halfway(t *testing.T) *testCluster {
	c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
	source := c.stores["n1"]
	source.mu.Lock()
	for i := range 600 {
		source.put(fmt.Sprint("key", i), i)
	}
	source.mu.Unlock()
	c.throttle(t, 1000)
	c.join("n2")
	for source.sentKeys() < 20 {
		time.Sleep(100 * time.Millisecond)
	}
	return c
}

func (c *testCluster) throttle(t *testing.T, rate int64) {
	t.Helper()
	if err := c.agreed.decide(&table.SetMoves{Throttle: &rate}); err != nil {
		t.Fatal(err)
	}
}

// What a receiver failed at before it was started again does not keep it waiting, also
// not if the first thing that it does is to fail once more.
func TestRestartedReceiverIsRetriedAtOnce(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := halfway(t)
		defer c.close()
		c.crash("n2")
		time.Sleep(17 * time.Second) // of failures; after 30 s it would be given up
		c.throttle(t, 0)
		c.stores["n2"].fill(true)
		c.join("n2")
		time.Sleep(1500 * time.Millisecond)
		c.stores["n2"].fill(false)
		began := time.Now()
		c.settle("a copy to who is back")
		t.Logf("all was copied %v after the receiver could take it", time.Since(began))
		if time.Since(began) > 6*time.Second {
			t.Error("the copy waited")
		}
	})
}

// Who was cut off is tried again soon when it is back, though it is the same start.
func TestReconnectedReceiverIsRetriedSoon(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := halfway(t)
		defer c.close()
		c.part("n2", true)
		time.Sleep(17 * time.Second) // of failures; after 30 s it would be given up
		c.throttle(t, 0)
		c.part("n2", false)
		began := time.Now()
		c.settle("a copy to who is back")
		t.Logf("all was copied %v after the receiver was back", time.Since(began))
		if time.Since(began) > 6*time.Second {
			t.Error("the copy waited")
		}
	})
}
