package node

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring/strategy"
)

// Who leaves is gone once nobody needs it any more, and waits for nothing that it can only
// hear as a member: not the node that leads either.
func TestLeavingEndsWithoutATimeout(t *testing.T) {
	virtually(t, 4, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 60*time.Millisecond, 0, func(cfg *Config) { cfg.Strategy = strategy.VNode }) // few ranges
		c.three()
		c.backups(1)
		keys := someKeys(60)
		c.write("a", keys, 1)
		for _, leads := range []bool{false, true} {
			victim := c.leader()
			for _, id := range c.running() {
				if !leads && id != c.leader() {
					victim = id
				}
			}
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			err := c.nodes[victim].Leave(ctx)
			cancel()
			// It takes up to 5 s in this network, and all of forgetTime more if it waits.
			if took := time.Since(began); err != nil || took >= forgetTimeout+2*time.Second {
				t.Errorf("%s, which leads (%v), leaves within %v: %v", victim, leads, took, err)
			}
			// Who asks again hears the same, also once the node has ended as after RING LEAVE.
			c.nodes[victim].finish(nil)
			for range 10 {
				if err := c.nodes[victim].Leave(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			c.nodes[victim].leaves = true
			c.stop(victim)
			c.settled()
		}
		c.read(keys)
		c.close()
	})
}

// A node that has just started again is told to leave before it has registered. The cluster still
// counts on its copies, so it hands them over first.
func TestLeaveRightAfterRestartHandsDataOver(t *testing.T) {
	orders := map[string]func(c *virtualCluster, id string) error{
		"Leave": func(c *virtualCluster, id string) error { return c.nodes[id].Leave(c.t.Context()) },
		"RING LEAVE": func(c *virtualCluster, id string) error {
			if _, err := c.do(id, "RING", "LEAVE"); err != nil {
				return err
			}
			<-c.nodes[id].Done()
			return c.nodes[id].Err()
		},
	}
	for name, order := range orders {
		t.Run(name, func(t *testing.T) {
			virtually(t, 1, func(t *testing.T, seed uint64) {
				var entering atomic.Pointer[chan struct{}] // nil: nodes enter without waiting
				c := newVirtualCluster(t, seed, 2*time.Millisecond, 0, func(cfg *Config) {
					steps := cfg.env.Steps
					cfg.env.Steps = func(s step.Step) {
						if until := entering.Load(); s == startEntering && until != nil {
							<-*until
						}
						steps(s)
					}
				})
				c.three()
				c.backups(1)
				keys := someKeys(60)
				c.write("a", keys, 1)
				c.crash("b")
				until := make(chan struct{})
				entering.Store(&until)
				b := c.start("b", "a", "c")
				c.within(time.Minute, "b knows the table", func() bool { return b.cluster.table.State().Founded() })
				left := make(chan error, 1)
				go func() { left <- order(c, "b") }()
				time.Sleep(time.Second)
				close(until)
				if err := <-left; err != nil {
					t.Fatal(err)
				}
				b.leaves = true
				st := c.nodes["a"].cluster.table.State()
				if n, _ := st.Node("b"); n.State != table.Gone {
					t.Errorf("b has left, and is %v by the table", n.State)
				}
				for row := range st.Rows() {
					if row.Holds("b") {
						t.Fatalf("b has left with a copy that counts: %+v", row)
					}
				}
				c.stop("b")
				c.settled()
				c.read(keys)
				c.close()
			})
		})
	}
}

// A copy is admitted just after its node was told to leave, and the node has not applied that yet.
// The leave waits until the copy is given up.
func TestLeaveWaitsForCopyThatIsAdmittedLate(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		counted, admit := make(chan struct{}), make(chan struct{})
		apply := make(chan struct{})
		var gate atomic.Bool // the next copy that is complete waits until admit is closed
		var leader gray
		var leaver atomic.Pointer[table.Table]
		c := newVirtualCluster(t, seed, 2*time.Millisecond, 0, func(cfg *Config) {
			if cfg.ID == "a" {
				leader.under(cfg)
				steps := cfg.env.Steps
				cfg.env.Steps = func(s step.Step) {
					if s == step.GrowthCounted && gate.CompareAndSwap(true, false) {
						close(counted)
						<-admit
					}
					steps(s)
				}
				return
			}
			cfg.Weight = 0.001 // it only gets to be a backup
			cfg.env.Table.Applying = func() {
				if tab := leaver.Load(); tab != nil {
					if n, _ := tab.State().Node("b"); n.State == table.Leaving {
						<-apply // the first entry after the order to leave, and all later ones
					}
				}
			}
		})
		c.start("a")
		c.settled()
		a := c.nodes["a"].cluster.table
		holds := func() bool {
			for row := range a.State().Rows() {
				if row.Holds("b") {
					return true
				}
			}
			return false
		}
		gate.Store(true)
		b := c.start("b", "a")
		leaver.Store(b.cluster.table)
		<-counted
		release := leader.hang() // so the entries below come one after the other
		left := make(chan error, 1)
		go func() { left <- b.Leave(t.Context()) }()
		time.Sleep(time.Second)
		paused := make(chan error, 1)
		go func() {
			_, err := a.Apply(t.Context(), &table.SetMoves{Paused: new(true)}) // nothing is given up
			paused <- err
		}()
		time.Sleep(time.Second)
		close(admit)
		time.Sleep(time.Second)
		release()
		if err := <-paused; err != nil {
			t.Fatal(err)
		}
		c.within(time.Second, "b is admitted", holds)
		select {
		case err := <-left:
			t.Errorf("b leaves with a copy that counts: %v", err)
			left <- err
		case <-time.After(10 * time.Second):
		}
		close(apply)
		if _, err := a.Apply(t.Context(), &table.SetMoves{Paused: new(false)}); err != nil {
			t.Fatal(err)
		}
		if err := <-left; err != nil {
			t.Fatal(err)
		}
		if n, _ := a.State().Node("b"); n.State != table.Gone {
			t.Errorf("b has left, and is %v by the table", n.State)
		}
		b.leaves = true
		c.stop("b")
		c.settled()
		c.close()
	})
}

// Three of five stores leave at once and move their data for a long time. They vote meanwhile: the
// cluster goes on when the leader dies, and again when another node does. When the leaves have ended,
// one of the two nodes votes.
func TestLeavingNodesVoteUntilTheirDataIsElsewhere(t *testing.T) {
	virtually(t, 2, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 2*time.Millisecond, 0, fewerRanges)
		c.three()
		c.start("d", "a")
		c.start("e", "a")
		c.backups(1)
		c.within(time.Minute, "five nodes vote", func() bool { return len(c.nodes["a"].cluster.table.Voters()) == 5 })
		c.settled()
		c.fill("a", 300, 1000)
		keys := someKeys(60)
		c.write("a", keys, 1)
		c.order("a", "RING", "THROTTLE", "100")
		leavers := []string{"c", "d", "e"}
		for _, id := range leavers {
			c.order(id, "RING", "LEAVE")
		}
		time.Sleep(10 * time.Second)
		for range 2 {
			dead := c.leader()
			c.crash(dead)
			c.leader()
			c.start(dead, c.running()...)
		}
		c.order("a", "RING", "THROTTLE", "0")
		for _, id := range leavers {
			<-c.nodes[id].Done()
			c.nodes[id].leaves = true
			c.stop(id)
		}
		c.within(time.Minute, "one node votes", func() bool { return len(c.nodes["a"].cluster.table.Voters()) == 1 })
		c.settled()
		c.read(keys)
		c.close()
	})
}
