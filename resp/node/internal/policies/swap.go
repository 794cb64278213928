package policies

import (
	"context"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
)

// An abandonedSwap watches swaps of databases: the node that has begun one may be gone.
type abandonedSwap struct {
	change uint64
	since  time.Time
}

// end ends a swap without a change, if it has been under way for too long and this node leads.
func (a *abandonedSwap) end(ctx context.Context, c *Changer) {
	value := c.Table.State().Values().Of(database.OrderName)
	order, err := database.ParseOrder(value.Body)
	if err != nil || order.Change() == 0 {
		a.change = 0
		return
	}
	if order.Change() != a.change {
		*a = abandonedSwap{order.Change(), time.Now()}
	}
	if _, leads := c.Table.Leader(); leads && time.Since(a.since) > abandonedAfter {
		// As with policies, whoever ended it first has won.
		_ = c.Agree(ctx, []agreed.Change{{Name: database.OrderName, Body: order.End(false).Body(), Was: value.Version}})
	}
}
