package swap

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// Parse reads the arguments of SWAPDB. msg is an error reply.
func Parse(args [][]byte, databases int) (w database.Swap, msg string) {
	a, ok1 := wire.ParseInt(args[1])
	b, ok2 := wire.ParseInt(args[2])
	most := int64(databases)
	switch {
	case !ok1 || a != int64(int32(a)):
		return w, "ERR invalid first DB index"
	case !ok2 || b != int64(int32(b)):
		return w, "ERR invalid second DB index"
	case a < 0 || a >= most || b < 0 || b >= most:
		return w, command.MsgNoDatabase
	}
	return database.Swap{A: int(a), B: int(b), Change: rand.Uint64() | 1}, ""
}

// A View is what a node knows of the agreed values. Newer is closed once it knows of others.
type View struct {
	Values *agreed.Values
	Newer  <-chan struct{}
}

// order returns the order, and the version of its agreed value.
func (v *View) order() (*database.Order, uint64) {
	value := v.Values.Of(database.OrderName)
	order, _ := database.ParseOrder(value.Body) // as in database.Policies.Ordered
	return order, value.Version
}

// A Cluster is what a swap needs of the node that a client has asked.
type Cluster interface {
	// View returns by what the node goes at present.
	View() View
	// Agree changes an agreed value. The error wraps [agreed.ErrChanged] if it has changed meanwhile.
	Agree(ctx context.Context, change agreed.Change) error
	// Drained returns once no node runs a request that began before it knew of a swap; false if that cannot
	// be told in time.
	Drained(change uint64) bool
}

// Run swaps two databases. It returns an error reply, or "". beginsWithin is how long it waits for other swaps.
func Run(ctx context.Context, c Cluster, w database.Swap, beginsWithin time.Duration) (msg string) {
	soon, cancel := context.WithTimeout(ctx, beginsWithin)
	defer cancel()
	for {
		view := c.View()
		order, version := view.order()
		if order.Change() == 0 {
			switch begun, err := agree(soon, c, version, order.Begin(w)); {
			case err == nil:
				return finish(ctx, c, begun, order.Begin(w))
			case !errors.Is(err, agreed.ErrChanged):
				return "ERR the databases are not swapped: " + err.Error()
			}
		}
		select {
		case <-view.Newer:
		case <-soon.Done():
			return "TRYAGAIN another swap of databases is not over yet"
		}
	}
}

// finish ends a swap that has begun. Should it fail, the leader ends the swap without a change.
func finish(ctx context.Context, c Cluster, version uint64, order *database.Order) (msg string) {
	drained := c.Drained(order.Change())
	switch _, err := agree(ctx, c, version, order.End(drained)); {
	case !drained:
		return "TRYAGAIN the databases are not swapped: a node runs a command for long, or cannot be reached"
	case err != nil:
		return "UNKNOWN the databases may or may not be swapped: " + err.Error()
	}
	return ""
}

// agree sets the order, which is of a version. It returns the next version once the node goes by that, or by a
// later one.
func agree(ctx context.Context, c Cluster, version uint64, next *database.Order) (uint64, error) {
	err := c.Agree(ctx, agreed.Change{Name: database.OrderName, Body: next.Body(), Was: version})
	if err != nil {
		return 0, err
	}
	for {
		view := c.View()
		if _, now := view.order(); now != version {
			return now, nil
		}
		select {
		case <-view.Newer:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}
