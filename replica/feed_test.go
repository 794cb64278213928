package replica

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// backups says how many copies are wanted.
func (c *testCluster) backups(n int) {
	c.sure(func() table.Command { return &table.SetBackups{Backups: n} },
		func(st *table.State) bool { return st.Cluster().Backups == n })
}

// copies waits until each row has so many, the primary among them.
func (c *testCluster) copies(n int) {
	c.t.Helper()
	for range 600 {
		short := 0
		for row := range c.agreed.State().Rows() {
			if 1+len(row.Backups) != n {
				short++
			}
		}
		if short == 0 {
			return
		}
		time.Sleep(time.Second)
	}
	for row := range c.agreed.State().Rows() {
		c.t.Logf("%v %s %v %v", row.Range, row.Primary, row.Backups, row.Learners)
	}
	c.t.Fatalf("not all rows have %d copies", n)
}

// replicated runs a cluster of three with one backup each.
func replicated(t *testing.T, faults float64, backups int, run func(c *testCluster, seed uint64, rnd *rand.Rand)) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(seed, 1)), faults)
		defer c.close()
		c.backups(backups)
		c.join("n2")
		c.join("n3")
		c.settle("joins")
		c.copies(backups + 1)
		run(c, seed, rand.New(rand.NewPCG(seed, 0)))
	})
}

func TestBackupsHaveAllThatWasAcknowledged(t *testing.T) {
	for _, faults := range []float64{0, 0.05} {
		for _, backups := range []int{1, 2} {
			t.Run(fmt.Sprintf("faults=%v/backups=%d", faults, backups), func(t *testing.T) {
				randomtest.DrawShort(t, 4)
				replicated(t, faults, backups, func(c *testCluster, seed uint64, rnd *rand.Rand) {
					stop := c.clients(seed, 300)
					time.Sleep(5 * time.Second)
					c.join("n4")
					time.Sleep(5 * time.Second)
					c.settle("a join")
					c.copies(backups + 1)
					total := stop()
					if len(total) < 200 {
						t.Errorf("only %d keys were counted", len(total))
					}
					c.check(total)
				})
			})
		}
	}
}

// A backup that ends is released, and writes go on.
func TestUnreachableBackupIsReleased(t *testing.T) {
	replicated(t, 0, 1, func(c *testCluster, seed uint64, rnd *rand.Rand) {
		stop := c.clients(seed, 300)
		time.Sleep(time.Second)
		c.part("n3", true)
		time.Sleep(5 * time.Second)
		for row := range c.agreed.State().Rows() {
			if row.Primary != "n3" && slices.Contains(row.Backups, "n3") {
				t.Fatalf("n3 is still a backup of %v", row.Range)
			}
		}
		c.part("n3", false)
		c.settle("that n3 is back")
		c.copies(2)
		c.check(stop())
	})
}

// A backup whose disk is full is released, and is one again once there is room.
func TestBackupWithFullDiskReturns(t *testing.T) {
	replicated(t, 0, 1, func(c *testCluster, seed uint64, _ *rand.Rand) {
		stop := c.clients(seed, 300)
		time.Sleep(time.Second)
		c.stores["n3"].fill(true)
		time.Sleep(5 * time.Second)
		for row := range c.agreed.State().Rows() {
			if row.Primary != "n3" && slices.Contains(row.Backups, "n3") {
				t.Errorf("n3 is still a backup of %v", row.Range)
			}
		}
		c.stores["n3"].fill(false)
		c.copies(2)
		c.check(stop())
	})
}

// Who follows a row takes nothing for granted of how it had learned it.
func TestBackupForgetsItsCopyProgress(t *testing.T) {
	replicated(t, 0, 1, func(c *testCluster, _ uint64, _ *rand.Rand) {
		followed := 0
		for id, n := range c.nodes {
			n.engine.feed.Followed(func(primary string, r ring.Range, learned bool) {
				followed++
				if learned {
					t.Errorf("%s follows %s in %v, and takes it for a row that came by a handoff", id, primary, r)
				}
			})
		}
		if followed == 0 {
			t.Error("this test proves nothing")
		}
	})
}
