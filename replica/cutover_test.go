package replica

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/ringside-kv/ringside/internal/fakenet"
	"github.com/ringside-kv/ringside/replica/table"
)

// A lateTable tells of the first cutover that was decided only when it is allowed to, as
// a network may.
type lateTable struct {
	Table
	decided chan *table.CutOver
	tells   chan struct{}
}

func (l *lateTable) Apply(ctx context.Context, c table.Command) error {
	err := l.Table.Apply(ctx, c)
	if over, ok := c.(*table.CutOver); ok && err == nil {
		select {
		case l.decided <- over:
			select {
			case <-l.tells:
			case <-ctx.Done():
			}
			return errNoAnswer
		default:
		}
	}
	return err
}

// A receiver that has become the primary feeds whom it learned from, while that one may
// not have heard yet that its handoff is through. What it is fed must not go back by the
// copy: it would come late, and undo what has been written since.
func TestNewPrimaryDoesNotReceiveItsOwnWrites(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	fakenet.Bubble(t, func(t *testing.T) {
		c := newTestCluster(t, rand.New(rand.NewPCG(seed, 1)), 0)
		defer c.close()
		if err := c.agreed.decide(&table.SetBackups{Backups: 1}); err != nil {
			t.Fatal(err)
		}
		late := &lateTable{decided: make(chan *table.CutOver, 1), tells: make(chan struct{})}
		c.crash("n1")
		c.config = func(cfg *Config) {
			if cfg.Self == "n1" {
				late.Table = cfg.Table
				cfg.Table = late
			}
		}
		c.join("n1")
		c.join("n2")
		over := <-late.decided
		key := "key"
		for i := 0; !over.Rows[0].Range.Contains(tokenOf(key)); i++ {
			key = fmt.Sprint("key", i)
		}
		n := c.nodes["n2"]
		const counted = 300
		for range counted {
			told := make(chan error, 1)
			for !n.gate.serve(key, func() {
				n.store.mu.Lock()
				n.store.put(key, n.store.data[key]+1)
				held := n.store.held[key]
				n.store.mu.Unlock()
				held.wait(func(err error) { told <- err })
			}) {
				time.Sleep(time.Millisecond)
			}
			if err := <-told; err != nil {
				t.Fatal(err)
			}
		}
		close(late.tells)
		c.settle("a join")
		c.check(map[string]int{key: counted})
	})
}
