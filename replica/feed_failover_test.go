package replica

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// failOver replaces a node that has ended, as the leader does: it asks the others how far
// they follow it, and has the table name the one who follows furthest.
func (c *testCluster) failOver(id string) {
	c.t.Helper()
	for range 100 {
		st := c.agreed.State()
		dead, _ := st.Node(id)
		positions := make(map[string]feed.Position)
		c.mu.Lock()
		nodes := make(map[string]*testNode)
		for other, n := range c.nodes {
			if other != id && !c.cut[other] {
				nodes[other] = n
			}
		}
		c.mu.Unlock()
		for other, n := range nodes {
			p, err := n.engine.Fence(context.Background(), id, dead.Incarnation)
			if err != nil {
				c.t.Fatal(err)
			}
			positions[other] = p
		}
		f := &table.Failover{Node: id, Incarnation: dead.Incarnation}
		for row := range st.Rows() {
			if row.Primary != id {
				continue
			}
			var members []string
			best := ""
			for _, b := range row.Backups {
				p, answered := positions[b]
				if !answered {
					continue
				}
				if p.Known {
					members = append(members, b)
				}
				if was := positions[best]; best == "" || p.Known && (!was.Known || p.Last > was.Last) {
					best = b
				}
			}
			if best == "" {
				continue
			}
			members = slices.DeleteFunc(members, func(m string) bool { return m == best })
			f.Rows = append(f.Rows, table.Succession{Row: row.Ref(), Primary: best, Backups: members})
		}
		if len(f.Rows) == 0 {
			return
		}
		err := c.agreed.decide(f)
		if err == nil {
			return
		}
		if !table.IsRefused(err) {
			c.t.Fatal(err)
		}
	}
	c.t.Fatalf("%s cannot be replaced", id)
}

// Whatever was acknowledged is there when its primary has ended, and goes on to be
// counted without anybody's help.
func TestBackupTakesOver(t *testing.T) {
	for _, backups := range []int{1, 2} {
		t.Run(fmt.Sprintf("backups=%d", backups), func(t *testing.T) {
			randomtest.DrawShort(t, 2)
			replicated(t, 0, backups, func(c *testCluster, seed uint64, rnd *rand.Rand) {
				c.join("n4")
				c.settle("a join")
				c.copies(backups + 1)
				stop := c.clients(seed, 300)
				for round := range 4 {
					time.Sleep(2*time.Second + time.Duration(rnd.Int64N(int64(time.Second))))
					id := fmt.Sprint("n", 1+rnd.IntN(4))
					if backups > 1 {
						// Some of them have not heard the last of it.
						other := fmt.Sprint("n", 1+rnd.IntN(4))
						c.part(other, true)
						time.Sleep(time.Duration(rnd.Int64N(int64(300 * time.Millisecond))))
						c.crash(id)
						c.part(other, false)
					} else {
						c.crash(id)
					}
					c.mu.Lock()
					for other := range c.nodes {
						c.leader = other
					}
					c.mu.Unlock()
					time.Sleep(time.Second)
					c.failOver(id)
					before := time.Now()
					for left := true; left; {
						left = false
						for row := range c.agreed.State().Rows() {
							n := c.nodes[row.Primary]
							left = left || n == nil || !n.store.serves(row.Range)
						}
						time.Sleep(10 * time.Millisecond)
						if time.Since(before) > 10*time.Second {
							t.Fatalf("round %d: not all is served again", round)
						}
					}
					// The store refuses writes in ranges that it still follows, also where the only backup is away.
					for row := range c.agreed.State().Rows() {
						if c.nodes[row.Primary].store.follows(row.Range) {
							t.Errorf("round %d: %s serves %v, and still follows its earlier primary", round, row.Primary, row.Range)
						}
					}
					c.join(id)
					c.settle("that it is back")
					c.copies(backups + 1)
				}
				total := stop()
				c.check(total)
			})
		})
	}
}

// serves reports whether a store was told that its node answers for a range.
func (m *memory) serves(r ring.Range) bool {
	return slices.ContainsFunc(m.served(), func(own ring.Range) bool { return spans.Within(r, own) })
}
