package zones

import (
	"context"
	"log/slog"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/replica/table/zones"
)

const (
	// attempt bounds one attempt to agree.
	attempt = 15 * time.Second
	// pause is between two attempts, while a node is of a build that does not know zones, for example.
	pause = 2 * time.Second
)

// A Keeper works for one node. Its fields are set once.
type Keeper struct {
	Node, Zone string // empty: none
	Table      *table.Table
	// Agree changes agreed values.
	Agree  func(ctx context.Context, changes []agreed.Change) (*agreed.Values, error)
	Logger *slog.Logger
}

// Run has the table show the zone of the node, once it has entered, until ctx ends.
func (k *Keeper) Run(ctx context.Context, entered <-chan struct{}) {
	select {
	case <-entered:
	case <-ctx.Done():
		return
	}
	changes, end := k.Table.Changes()
	defer end()
	said := ""
	for ctx.Err() == nil {
		err := k.propose(ctx)
		if err == nil {
			said = ""
			select {
			case <-changes:
			case <-ctx.Done():
			}
			continue
		}
		if text := err.Error(); text != said && ctx.Err() == nil {
			said = text
			k.Logger.Warn("the zone of this node is not agreed on yet: its copies are placed as before", "node", k.Node, "zone", k.Zone, "err", err)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}

// propose proposes the zone if the table has another one.
func (k *Keeper) propose(ctx context.Context) error {
	st := k.Table.State()
	if n, ok := st.Node(k.Node); !ok || n.State == table.Gone {
		return nil
	}
	change, ok := zones.Set(st.Values(), k.Node, k.Zone)
	if !ok {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	_, err := k.Agree(ctx, []agreed.Change{change})
	if err == nil {
		k.Logger.Info("the cluster knows the zone of this node", "node", k.Node, "zone", k.Zone)
	}
	return err
}
