package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
)

// Agree implements resp.Operator.
func (o operator) Agree(ctx context.Context, changes []agreed.Change) (*agreed.Values, error) {
	c, err := o.cluster()
	if err != nil {
		return nil, err
	}
	for range switchTries { // a node may start meanwhile
		if err = agree(ctx, c, changes); !errors.Is(err, table.ErrIncarnation) {
			break
		}
	}
	if errors.Is(err, table.ErrStale) {
		err = fmt.Errorf("%w: %w", agreed.ErrChanged, err)
	}
	return c.table.State().Values(), err
}

func agree(ctx context.Context, c *cluster, changes []agreed.Change) error {
	set := &table.SetValues{Changes: changes}
	var err error
	if set.Starts, err = c.switcher.starts(ctx, c.table.State(), bus.ValuesVersion, "have agreed values"); err != nil {
		return err
	}
	// A body that is only this change's tells that the change was made, though its outcome is not known.
	made := func(st *table.State) bool {
		for i := range changes {
			now, was := st.Values().Of(changes[i].Name), changes[i]
			if was.Remove != (now.Version == 0) || now.Body != was.Body || !was.Remove && now.Version == was.Was {
				return false
			}
		}
		return true
	}
	if err := c.propose(ctx, set, made); err != nil {
		return err
	}
	// Others may have changed it again meanwhile.
	known := func(st *table.State) bool {
		for i := range changes {
			if was := changes[i].Was; st.Values().Of(changes[i].Name).Version == was && (was != 0 || !changes[i].Remove) {
				return false
			}
		}
		return true
	}
	if !c.waitForState(ctx, known) {
		return ctx.Err()
	}
	return nil
}
