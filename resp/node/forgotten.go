package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
)

// ErrForgotten says that the cluster has taken out a node that went on to run.
var ErrForgotten = errors.New("this start of the node is not registered any more: while it could not be reached it was taken out of the cluster " +
	"(RING FORGET, or a proxy that counted as dead), or a later start of it was registered; start it again to enter the cluster anew")

// askAlone is how often a node that hears of no leader asks whether it is still registered.
const askAlone = 5 * time.Second

// watchForgotten ends the node when its start is no longer registered. A node that is taken
// out while it is cut off is no server of the Raft group any more: nobody sends it the entry
// that says so, it gets no lease, and it could serve nothing for as long as it runs.
func (c *cluster) watchForgotten() {
	tick := time.NewTicker(askAlone)
	defer tick.Stop()
	for alone := false; ; {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		leader, _ := c.table.Leader()
		was := alone
		if alone = leader == "" && c.entered.Load() && !c.leaves(); !alone || !was {
			continue
		}
		if err := c.stillRegistered(); err != nil {
			c.n.finish(fmt.Errorf("%w: %w", ErrForgotten, err))
			return
		}
	}
}

// leaves reports whether the node leaves for good, after which it ends by itself.
func (c *cluster) leaves() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.drains
}

// stillRegistered asks the leader, whom other nodes may know, to register this start once more.
// That changes nothing, and is refused if the start has been taken out or superseded. It returns
// nil, too, where no leader answers.
func (c *cluster) stillRegistered() error {
	ctx, cancel := context.WithTimeout(c.ctx, enterTimeout)
	defer cancel()
	r := &table.Register{Node: c.n.id, Incarnation: c.incarnation, Role: c.n.cfg.tableRole()}
	if _, err := c.table.Decide(ctx, r); errors.Is(err, table.ErrIncarnation) {
		return err
	}
	return nil
}
