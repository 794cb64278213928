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

// askAlone is how often a node without a leader or a lease asks whether it is still registered.
const askAlone = 5 * time.Second

// watchForgotten ends the node when its start is no longer registered. The table need not say so: a
// node that is removed while it is cut off is no server of the Raft group any more, and no server
// sends it the entry. If a later start is registered meanwhile, the leader takes no answers of this
// one, and sends it the same entries again. Such a node gets no lease, and could never serve again.
func (c *cluster) watchForgotten() {
	tick := time.NewTicker(askAlone)
	defer tick.Stop()
	for unsure := false; ; {
		select {
		case <-c.ctx.Done():
			return
		case <-tick.C:
		}
		leader, _ := c.table.Leader()
		leased := c.n.cfg.Role == RoleProxy || c.engine.Lease().Valid() // a proxy needs no lease
		was := unsure
		if unsure = (leader == "" || !leased) && c.entry.entered.Load() && !c.departure.withdrawing.Load(); !unsure || !was {
			continue
		}
		if err := c.stillRegistered(); err != nil {
			c.n.finish(fmt.Errorf("%w: %w", ErrForgotten, err))
			return
		}
	}
}

// stillRegistered asks the leader, which other nodes may know, whether this start is registered.
// It returns an error only if the leader says that it is not: the start has been taken out or
// superseded.
func (c *cluster) stillRegistered() error {
	ctx, cancel := context.WithTimeout(c.ctx, enterTimeout)
	defer cancel()
	if err := c.table.CheckRegistered(ctx, c.incarnation); errors.Is(err, table.ErrIncarnation) {
		return err
	}
	return nil
}
