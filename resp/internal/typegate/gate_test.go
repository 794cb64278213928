package typegate

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/fakenet"
)

// A table holds the agreed values of several servers, which know of a change some time after it was made.
type table struct {
	values   atomic.Pointer[agreed.Values]
	mu       sync.Mutex
	proposed int
	fails    error
}

func (c *table) agree(_ context.Context, change agreed.Change) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.proposed++
	if c.fails != nil {
		return c.fails
	}
	next, err := c.values.Load().With([]agreed.Change{change}, 1)
	if err == nil {
		c.values.Store(next)
	}
	return err
}

func TestServersAgreeOnceOnTypes(t *testing.T) {
	fakenet.Bubble(t, func(t *testing.T) {
		c := new(table)
		var all sync.WaitGroup
		waited := new(atomic.Int64)
		for range 5 {
			g := &Gate{Values: c.values.Load, Agree: c.agree}
			all.Go(func() {
				for range 3 {
					if err := g.Open(func() { waited.Add(1) }); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		if c.values.Load().Of(agreed.TypesName).Body != body || c.proposed > 5 || waited.Load() != int64(c.proposed) {
			t.Errorf("%q after %d proposals and %d waits", c.values.Load().Of(agreed.TypesName).Body, c.proposed, waited.Load())
		}
		before := c.proposed
		late := &Gate{Values: c.values.Load, Agree: c.agree}
		if err := late.Open(nil); err != nil || c.proposed != before {
			t.Error("what is agreed was proposed again", err)
		}
	})
}

func TestTypesAreRefusedWhileNodesDoNotKnowThem(t *testing.T) {
	c := &table{fails: errors.Join(errors.New("the build of node b cannot have them"), agreed.ErrUnknown)}
	g := &Gate{Values: c.values.Load, Agree: c.agree}
	if err := g.Open(nil); err == nil || errors.Is(err, agreed.ErrUnknown) {
		t.Errorf("%v: nothing was written, so no outcome is open", err)
	}
	c.fails = nil
	if err := g.Open(nil); err != nil {
		t.Error(err)
	}
	if err := new(Gate).Open(nil); err != nil {
		t.Error("a server without a cluster:", err)
	}
}
