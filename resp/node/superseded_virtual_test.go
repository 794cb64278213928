package node

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/hashicorp/raft"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/resp/node/internal/lastrun"
)

// A start of a node that is no longer the registered one has lost its place for good: another
// process has its id, or its directory was copied.
func TestNodeEndsWhenLaterStartOfItIsRegistered(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		later := c.nodes["c"].cluster.incarnation + 1
		if _, err := c.nodes["a"].cluster.table.Apply(t.Context(), &table.Register{Node: "c", Incarnation: later}); err != nil {
			t.Fatal(err)
		}
		c.endsAsSuperseded("c")
		for _, id := range []string{"a", "b"} {
			if err := c.nodes[id].Err(); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		c.close()
	})
}

// The leader rejects all answers of a superseded start, so it sends it the same request again and
// again. If that ends before the entry that registers the later start, the table never shows it.
func TestNodeFarBehindEndsWhenLaterStartOfItIsRegistered(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		later := c.nodes["c"].cluster.incarnation + 1
		c.net.Move(1, c.nodes["c"].ip)
		apply := func(command table.Command) {
			t.Helper()
			c.within(time.Minute, fmt.Sprintf("%T is applied", command), func() bool {
				_, err := c.nodes["a"].cluster.table.Apply(t.Context(), command)
				return err == nil
			})
		}
		for i := range 2 * raft.DefaultConfig().MaxAppendEntries {
			apply(&table.SetWeight{Node: "a", Incarnation: c.nodes["a"].cluster.incarnation, Weight: 1 + float64(i%2)/1e6})
		}
		apply(&table.Register{Node: "c", Incarnation: later})
		c.net.Move(0, c.nodes["c"].ip)
		c.endsAsSuperseded("c")
		c.close()
	})
}

// endsAsSuperseded waits until a node has ended since a later start of it is registered. The entry
// says so, or the leader, when the node asks.
func (c *virtualCluster) endsAsSuperseded(id string) {
	c.t.Helper()
	c.within(time.Minute, id+" ends", func() bool { return c.nodes[id].Err() != nil })
	if err := c.nodes[id].Err(); !errors.Is(err, ErrSuperseded) && !errors.Is(err, ErrForgotten) {
		c.t.Error(err)
	}
}

// The original of a copied directory may hold a lease when the copy is registered, also if it
// is not found where it was: until that is over the copy answers nothing.
func TestCopiedDirectoryAnswersOnceItsOriginalHasNoLease(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		for _, copied := range []bool{false, true} {
			c.stop("c")
			last, err := lastrun.Load(c.nodes["c"].dir)
			if err != nil {
				t.Fatal(err)
			}
			last.Copied, last.Bus = copied, "10.0.0.99:16379"
			if err := last.Save(c.nodes["c"].dir); err != nil {
				t.Fatal(err)
			}
			c.start("c", "a")
			cl := c.nodes["c"].cluster
			c.within(time.Minute, "c is registered", func() bool { return c.nodes["a"].cluster.registered("c") == cl.incarnation })
			registered := time.Now()
			c.within(time.Minute, "c has a lease", func() bool { return cl.engine.Lease().Valid() })
			// It is looked at every 100 ms.
			if took := time.Since(registered); copied != (took > 2*time.Second) {
				t.Errorf("copied %v: a lease %v after the registration", copied, took)
			}
		}
		c.settled()
		c.close()
	})
}

func (c *cluster) registered(node string) uint64 {
	n, _ := c.table.State().Node(node)
	return n.Incarnation
}
