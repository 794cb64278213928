package agreement

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/replica/bus"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/replica/table/zones"
)

// A Changer proposes changes for one node. Its methods may be called from several goroutines at once.
type Changer struct {
	Table *table.Table
	// Propose has the table accept a command; shows reports whether a state has it.
	Propose func(ctx context.Context, c table.Command, shows func(*table.State) bool) error
	// Starts returns the starts of all nodes if they speak a version of the bus protocol; what says, for an
	// error, what that version can.
	Starts func(ctx context.Context, st *table.State, version uint16, what string) ([]table.NodeStart, error)
}

// Needs returns the oldest version of the bus protocol whose nodes understand some values.
func Needs(values *agreed.Values) uint16 {
	if values.Of(agreed.ReplicaofName).Version != 0 {
		return bus.ReplicaofVersion
	}
	if values.Of(agreed.ListsName).Version != 0 {
		return bus.ChunksVersion
	}
	if values.Of(agreed.TypesName).Version != 0 {
		return bus.TypesVersion
	}
	if len(values.Under(database.PolicyPrefix)) > 0 {
		return bus.MovesVersion
	}
	if zones.Any(values) {
		return bus.ZonesVersion
	}
	if values.Of(database.OrderName).Version != 0 {
		return bus.SwapsVersion
	}
	return bus.ValuesVersion
}

// tries is how often a change is proposed while nodes start.
const tries = 3

// Agree makes changes, all or none, and returns the values as this node knows them then. The error wraps
// agreed.ErrChanged if a value is not of the version that a change names, and agreed.ErrUnknown if the changes may
// have been made.
func (c *Changer) Agree(ctx context.Context, changes []agreed.Change) (*agreed.Values, error) {
	var err error
	for range tries {
		if err = c.propose(ctx, changes); !errors.Is(err, table.ErrIncarnation) {
			break
		}
	}
	if errors.Is(err, table.ErrStale) {
		err = fmt.Errorf("%w: %w", agreed.ErrChanged, err)
	}
	return c.Table.State().Values(), err
}

func (c *Changer) propose(ctx context.Context, changes []agreed.Change) error {
	set := &table.SetValues{Changes: changes}
	var err error
	version, what := uint16(bus.ValuesVersion), "have agreed values"
	if slices.ContainsFunc(changes, func(v agreed.Change) bool { return v.Name == database.OrderName }) {
		version, what = bus.SwapsVersion, "swap databases"
	}
	if zones.Changed(changes) {
		version, what = bus.ZonesVersion, "place copies by zones"
	}
	if slices.ContainsFunc(changes, func(v agreed.Change) bool { return strings.HasPrefix(v.Name, database.PolicyPrefix) }) {
		version, what = bus.MovesVersion, "move the keys of a database"
	}
	if slices.ContainsFunc(changes, func(v agreed.Change) bool { return v.Name == agreed.TypesName }) {
		version, what = bus.TypesVersion, "have JSON values and filters"
	}
	if slices.ContainsFunc(changes, func(v agreed.Change) bool { return v.Name == agreed.ListsName }) {
		version, what = bus.ChunksVersion, "keep elements of lists in chunks"
	}
	if slices.ContainsFunc(changes, func(v agreed.Change) bool { return v.Name == agreed.ReplicaofName }) {
		version, what = bus.ReplicaofVersion, "be a replica of another server"
	}
	if set.Starts, err = c.Starts(ctx, c.Table.State(), version, what); err != nil {
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
	if err := c.Propose(ctx, set, made); err != nil {
		return err
	}
	return c.await(ctx, changes)
}

// await waits until this node knows changes, or later ones of the same values.
func (c *Changer) await(ctx context.Context, changes []agreed.Change) error {
	changed, end := c.Table.Changes()
	defer end()
	for {
		known, values := true, c.Table.State().Values()
		for i := range changes {
			was := changes[i].Was
			known = known && (values.Of(changes[i].Name).Version != was || was == 0 && changes[i].Remove)
		}
		if known {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("%w: the change is made, but this node does not know it yet: %w", agreed.ErrUnknown, context.Cause(ctx))
		}
	}
}

const (
	attempt = 5 * time.Second        // bounds an attempt of [Until]
	pause   = 200 * time.Millisecond // between two of them
)

// Until tries to agree on something until that succeeds or ctx ends, once the node has entered the cluster.
// failed is what the log says of a failure.
func Until(ctx context.Context, entered <-chan struct{}, logger *slog.Logger, failed string, agree func(context.Context) error) {
	select {
	case <-entered:
	case <-ctx.Done():
		return
	}
	for ctx.Err() == nil {
		once, cancel := context.WithTimeout(ctx, attempt)
		err := agree(once)
		cancel()
		if err == nil {
			return
		}
		logger.Warn(failed, "err", err)
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
	}
}
