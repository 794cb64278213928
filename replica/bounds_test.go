package replica

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Neighbours that cannot be merged without a pause for clients are merged later, although
// nothing happens any more that would call for it.
func TestNeighboursAreMergedWhenThatIsPossible(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
		defer c.close()
		n := c.nodes["n1"]
		time.Sleep(10 * time.Second)
		rows := c.agreed.State().Len()
		row, _ := c.agreed.State().Row(tokenOf("key"))
		at := row.Range.Start + ring.Token(row.Range.Len()/2)
		if err := c.agreed.decide(&table.Split{Cuts: []table.Cut{{Row: row.Ref(), At: []ring.Token{at}}}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond)
		tried := make(chan struct{})
		go n.gate.serve("key", func() { <-tried })
		for n.engine.totals.held.Load() == 0 {
			time.Sleep(time.Millisecond)
		}
		if got := c.agreed.State().Len(); got != rows+1 {
			t.Fatalf("%d rows of %d, although somebody works in them", got, rows)
		}
		close(tried)
		time.Sleep(time.Minute)
		if got := c.agreed.State().Len(); got != rows {
			t.Errorf("%d rows, not %d", got, rows)
		}
	})
}

// Neighbours are merged although nothing changes any more once their node has started.
func TestStartedNodeMergesNeighbours(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(1, 1)), 0)
		defer c.close()
		time.Sleep(10 * time.Second)
		rows := c.agreed.State().Len()
		c.crash("n1")
		c.starts++
		row, _ := c.agreed.State().Row(tokenOf("key"))
		at := row.Range.Start + ring.Token(row.Range.Len()/2)
		for _, command := range []table.Command{
			&table.Split{Cuts: []table.Cut{{Row: row.Ref(), At: []ring.Token{at}}}},
			&table.Register{Node: "n1", Incarnation: c.starts, Weight: 1},
		} {
			if err := c.agreed.decide(command); err != nil {
				t.Fatal(err)
			}
		}
		c.agreed.mu.Lock()
		newest := len(c.agreed.history) - 1
		c.agreed.mu.Unlock()
		c.start("n1", c.starts, newest)
		time.Sleep(time.Minute)
		if got := c.agreed.State().Len(); got != rows {
			t.Errorf("%d rows, not %d", got, rows)
		}
	})
}
