package replica

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/table"
)

// Whatever is planned leaves no write without its outcome: joins, another number of
// backups, promotions, merged neighbours and leaves, also when the node's other loops are
// late to see what the table has decided.
func TestPlannedChangesFailNoWrite(t *testing.T) {
	randomtest.Draw(t, 3)
	for _, backups := range []int{1, 2} {
		t.Run(fmt.Sprintf("backups=%d", backups), func(t *testing.T) {
			randomtest.DrawShort(t, 3)
			replicated(t, 0, backups, func(c *testCluster, seed uint64, rnd *rand.Rand) {
				stop := c.clients(seed, 300)
				c.join("n4")
				c.settle("a join")
				for _, n := range []int{0, 3, 1} {
					if err := c.agreed.decide(&table.SetBackups{Backups: n}); err != nil {
						t.Fatal(err)
					}
					c.settle(fmt.Sprint(n, " backups"))
					time.Sleep(3 * time.Second)
					c.copies(n + 1)
				}
				for _, id := range []string{"n2", "n1"} {
					st := c.agreed.State()
					n, _ := st.Node(id)
					if err := c.agreed.decide(&table.Leave{Node: id, Incarnation: n.Incarnation}); err != nil {
						t.Fatal(err)
					}
					c.settle(id + " leaves")
				}
				time.Sleep(10 * time.Second) // until neighbours are one
				c.check(stop())
				for id, m := range c.stores {
					if n := m.broken.Load(); n > 0 {
						t.Errorf("%s: %d times writes were left without an outcome", id, n)
					}
				}
			})
		})
	}
}
