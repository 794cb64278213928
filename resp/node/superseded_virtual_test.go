package node

import (
	"errors"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
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
		c.within(10*time.Second, "c ends", func() bool { return c.nodes["c"].Err() != nil })
		if err := c.nodes["c"].Err(); !errors.Is(err, ErrSuperseded) {
			t.Error(err)
		}
		for _, id := range []string{"a", "b"} {
			if err := c.nodes[id].Err(); err != nil {
				t.Errorf("%s: %v", id, err)
			}
		}
		c.close()
	})
}

// The original of a copied directory may hold a lease when the copy is registered, also if it
// is not found where it was: until that is over the copy answers nothing.
func TestCopiedDirectoryAnswersOnceItsOriginalHasNoLease(t *testing.T) {
	virtually(t, 1, func(t *testing.T, seed uint64) {
		c := newVirtualCluster(t, seed, time.Millisecond, 0, func(*Config) {})
		c.three()
		for _, copied := range []bool{false, true} {
			c.stop("c")
			last, err := loadRun(c.nodes["c"].dir)
			if err != nil {
				t.Fatal(err)
			}
			last.Copied, last.Bus = copied, "10.0.0.99:16379"
			if err := last.save(c.nodes["c"].dir); err != nil {
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
