package replica

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/ring"
)

// Routes take time in proportion to all ranges, so the front gets them only when they change: not at
// each tick.
func TestFrontGetsRoutesOnlyWhenTheyChange(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
		defer c.close()
		c.join("n2")
		c.settle("a join")
		time.Sleep(5 * time.Second) // until the last changes of the table are known
		n := c.nodes["n1"]
		term := func() int {
			n.gate.mu.Lock()
			defer n.gate.mu.Unlock()
			return n.gate.term
		}
		before := term()
		time.Sleep(10 * time.Second)
		if now := term(); now != before {
			t.Errorf("routes were set %d times while nothing changed", now-before)
		}
		own := n.engine.cfg.Table.State().Placement()
		at := own.Row(0).Range
		n.engine.hold([]ring.Range{at}, true)
		if now := term(); now != before+1 {
			t.Errorf("a held range: routes were set %d times", now-before)
		}
		n.engine.hold([]ring.Range{at}, false)
		if now := term(); now != before+2 {
			t.Errorf("a range that is not held any more: routes were set %d times in all", now-before)
		}
	})
}
