package node

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/randomtest"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/nodetest"
)

// besideLeave is what happens while the leader of the table leaves.
var besideLeave = map[string]func(c *virtualCluster, leaver, other string){
	"another node is cut off": func(c *virtualCluster, _, other string) { c.cutOff(other, 10*time.Second) },
	"the leaver is cut off":   func(c *virtualCluster, leaver, _ string) { c.cutOff(leaver, 10*time.Second) },
	"another node crashes":    func(c *virtualCluster, _, other string) { c.crash(other) },
	"the leaver crashes":      func(c *virtualCluster, leaver, _ string) { c.crash(leaver) },
	"both are cut off and crash": func(c *virtualCluster, leaver, other string) {
		c.cutOff(leaver, time.Second)
		c.crash(other)
		c.crash(leaver)
	},
}

// cutOff takes a node out of the network for some time.
func (c *virtualCluster) cutOff(id string, d time.Duration) {
	ip := c.nodes[id].ip
	c.net.Move(1, ip)
	time.AfterFunc(d, func() { c.net.Move(0, ip) })
}

// do sends one command to a node.
func (c *virtualCluster) do(id string, args ...any) (string, error) {
	client := c.client(id)
	defer func() { _ = client.Close() }()
	return client.Do(c.t.Context(), args...).Text()
}

// The leader leaves while nodes are cut off and crash: no acknowledged write is lost, and the
// leave completes once a majority is there.
func TestLeaveOfLeaderCompletesWhenNodesFailBeside(t *testing.T) {
	randomtest.Draw(t, 4)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		rnd := rand.New(rand.NewPCG(seed, 23))
		names := make([]string, 0, len(besideLeave))
		for name := range besideLeave {
			names = append(names, name)
		}
		slices.Sort(names)
		if isBrief() { // one of them, another one in each run
			names = []string{names[rnd.IntN(len(names))]}
		}
		for _, name := range names {
			leaveBeside(t, seed, rnd, name)
		}
	})
}

func leaveBeside(t *testing.T, seed uint64, rnd *rand.Rand, name string) {
	c := newVirtualCluster(t, seed, time.Duration(1+rnd.IntN(10))*time.Millisecond, 0, func(*Config) {})
	c.say("%s", name)
	c.three()
	c.start("d", "a")
	c.backups(1)
	c.settled()
	var l nodetest.AppLoad
	closeClients := c.load(&l, seed, true, "a", "b", "c", "d")
	time.Sleep(2 * time.Second)
	leaver := c.leader()
	other := c.other(leaver)
	left := make(chan error, 1)
	v := c.nodes[leaver]
	leaves := v.Node
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() { left <- leaves.Leave(ctx) }()
	time.Sleep(time.Duration(rnd.IntN(1500)) * time.Millisecond)
	besideLeave[name](c, leaver, other)
	err := <-left
	c.say("%s leaves: %v", leaver, err)
	time.Sleep(10 * time.Second) // what was cut off is back
	for _, id := range []string{other, leaver} {
		if c.nodes[id].Node == nil && (err != nil || id != leaver) {
			c.start(id, "a", "b", "c", "d")
		}
	}
	if err != nil {
		again, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		if err := v.Leave(again); err != nil {
			c.tell()
			t.Fatalf("%s: %s does not leave: %v", name, leaver, err)
		}
	}
	if v.leaves = true; v.Node != nil {
		c.stop(leaver)
	}
	c.settled()
	l.Stop()
	closeClients()
	c.check(&l)
	c.close()
}

// A node that is cut off is forgotten while it runs and has clients. It answers none of them
// with what has changed since, and when it is back no acknowledged write is lost.
func TestForgottenNodeThatRunsServesNothingOld(t *testing.T) {
	randomtest.Draw(t, 4)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 2*time.Millisecond, 0, func(cfg *Config) { cfg.RereplicateAfter = 2 * time.Second })
		c.three()
		c.start("d", "a")
		c.backups(1)
		c.settled()
		var l nodetest.AppLoad
		closeClients := c.load(&l, seed, true, "a", "b", "c", "d")
		time.Sleep(2 * time.Second)
		key := c.ownKey("b")
		if _, err := c.do("a", "SET", key, "old"); err != nil {
			t.Fatal(err)
		}
		c.net.Move(1, c.nodes["b"].ip)
		c.within(time.Minute, "others have taken the place of b", func() bool {
			_, err := c.do("a", "RING", "FORGET", "b")
			return err == nil
		})
		if _, err := c.do("a", "SET", key, "new"); err != nil {
			t.Fatal(err)
		}
		// The client is on b's side of the network.
		c.net.Move(1, "10.0.1.1")
		if got, err := c.do("b", "GET", key); err == nil {
			t.Errorf("b answers %q though it is forgotten", got)
		}
		c.net.Move(0, "10.0.1.1", c.nodes["b"].ip)
		for range 100 {
			if got, err := c.do("b", "GET", key); err == nil && got != "new" {
				t.Fatalf("b answers %q, which is old", got)
			}
			time.Sleep(100 * time.Millisecond)
		}
		c.within(time.Minute, "b ends", func() bool { return errors.Is(c.nodes["b"].Err(), ErrForgotten) })
		c.stop("b")
		c.start("b", "a")
		c.settled()
		l.Stop()
		closeClients()
		if _, err := c.do("a", "GETDEL", key); err != nil {
			t.Error(err)
		}
		c.check(&l)
		c.close()
	})
}

// A node that is told to leave is forgotten while it is cut off, before it has handed everything
// over. It ends once it is reached again.
func TestLeavingNodeThatIsForgottenEnds(t *testing.T) {
	randomtest.Draw(t, 3)
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 2*time.Millisecond, 0, func(cfg *Config) { cfg.RereplicateAfter = 2 * time.Second })
		c.three()
		c.start("d", "a")
		c.backups(1)
		c.settled()
		if _, err := c.do("b", "RING", "LEAVE"); err != nil {
			t.Fatal(err)
		}
		b := c.nodes["b"]
		b.leaves = true
		c.net.Move(1, b.ip)
		if b.cluster.ranges() == 0 {
			t.Fatal("b has handed everything over before it is cut off")
		}
		c.within(time.Minute, "others have taken the place of b", func() bool {
			_, err := c.do("a", "RING", "FORGET", "b")
			return err == nil
		})
		time.Sleep(4 * askAlone)
		if err := b.Err(); err != nil {
			t.Errorf("b ends before it can ask: %v", err)
		}
		c.net.Move(0, b.ip)
		c.within(4*askAlone, "b ends", func() bool { return errors.Is(b.Err(), ErrForgotten) })
		if err := b.Leave(t.Context()); err == nil {
			t.Error("Leave reports that everything is handed over")
		}
		c.stop("b")
		c.settled()
		c.close()
	})
}

// A node that has taken itself out may hear nothing more of the group before it has told the
// others: that is no reason to end with an error.
func TestNodeThatTakesItselfOutIsNotCalledForgotten(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 2*time.Millisecond, 0, func(cfg *Config) { cfg.Role = map[string]string{"p": RoleProxy}[cfg.ID] })
		c.three()
		c.start("p", "a")
		p := c.nodes["p"].cluster
		c.within(time.Minute, "the proxy has entered", func() bool { return p.entry.entered.Load() })
		p.departure.withdrawing.Store(true)
		if _, err := c.nodes["a"].cluster.table.Apply(t.Context(), &table.Forget{Node: "p", Incarnation: p.incarnation}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(4 * askAlone)
		if err := p.n.Err(); err != nil {
			t.Error(err)
		}
		p.departure.withdrawing.Store(false) // the rest of the leave has failed
		c.within(4*askAlone, "the proxy ends", func() bool { return errors.Is(p.n.Err(), ErrForgotten) })
		c.close()
	})
}

// A node that was alone for long, and may lead once the others are back, is still registered.
func TestIsolatedNodeStaysRegistered(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, 2*time.Millisecond, 0, func(*Config) {})
		c.three()
		ids := []string{"a", "b", "c"}
		for _, alone := range ids {
			for _, id := range ids {
				if id != alone {
					c.crash(id)
				}
			}
			time.Sleep(4 * askAlone)
			for _, id := range ids {
				if id != alone {
					c.start(id, ids...)
				}
			}
			c.settled() // no node has ended
		}
		c.close()
	})
}

// Both sides of a cluster are recovered, each on its own. They go on as two clusters that
// never mix, also when they find each other.
func TestBothSidesThatAreRecoveredStayApart(t *testing.T) {
	randomtest.Draw(t, 3)
	if testing.Short() {
		t.Skip("it recovers and starts two clusters, one after the other")
	}
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(cfg *Config) { cfg.Backups = 1 })
		c.three()
		c.start("d", "a")
		c.settled()
		c.inSync(1)
		for _, id := range []string{"a", "b", "c", "d"} {
			c.crash(id)
		}
		sides := [][]string{{"a", "b"}, {"c", "d"}}
		for _, side := range sides {
			if _, err := Recover([]string{c.nodes[side[0]].dir, c.nodes[side[1]].dir}, false); err != nil {
				t.Fatal(err)
			}
		}
		for _, id := range []string{"a", "b", "c", "d"} {
			c.start(id, "a", "b", "c", "d")
		}
		for _, side := range sides {
			c.within(time.Minute, "what a side lacks is made anew", func() bool {
				_, err := c.do(side[0], "RING", "RECREATE", "ALL")
				return err == nil
			})
			c.within(time.Minute, "a side serves", func() bool {
				_, err := c.do(side[1], "SET", "side", side[0])
				return err == nil
			})
		}
		time.Sleep(time.Minute) // they have found each other
		for _, side := range sides {
			for _, id := range side {
				if got, err := c.do(id, "GET", "side"); err != nil || got != side[0] {
					t.Errorf("%s answers %q, %v; want %q", id, got, err, side[0])
				}
				st := c.nodes[id].cluster.table.State()
				for row := range st.Rows() {
					if !slices.Contains(side, row.Primary) {
						t.Errorf("%s has ranges at %s, of the other side", id, row.Primary)
					}
				}
			}
		}
		c.close()
	})
}
