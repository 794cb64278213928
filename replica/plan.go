package replica

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// planner decides on the leader what moves: handoffs, and ranges that become one.
type planner struct {
	e *Engine
	// desired is what the strategy wants for the members of the table with that basis. Only
	// boundsLoop uses it.
	desired    *ring.Placement
	desiredFor uint64
}

// planLoop plans handoffs while this node leads, whenever the members or the table change.
func (pl *planner) planLoop(ctx context.Context) {
	changes, cancel := pl.e.cfg.Table.Changes()
	defer cancel()
	var planned *table.State // the state that was planned for
	var without Absence
	for ctx.Err() == nil {
		if !pl.e.cfg.Table.Leads() {
			planned = nil
			select {
			case <-changes:
			case <-ctx.Done():
			}
			continue
		}
		locks.Pause(ctx, pl.e.cfg.Settle)
		st, away := pl.e.cfg.Table.State(), pl.absent()
		if st == planned && maps.Equal(away, without) {
			continue
		}
		if err := pl.plan(ctx, st, away); err != nil {
			if ctx.Err() == nil {
				pl.e.cfg.Logger.Warn("planning handoffs failed", "err", err)
			}
			locks.Pause(ctx, pl.e.cfg.Retry)
			continue
		}
		planned, without = st, away
	}
}

// plan has the table accept the handoffs that lead to the desired placement.
func (pl *planner) plan(ctx context.Context, st *table.State, away Absence) error {
	if !st.Founded() || len(st.MembersOf()) == 0 {
		return nil
	}
	handoffs, err := DesiredHandoffs(st, pl.e.cfg.Strategy, away)
	if err != nil {
		return err
	}
	var next table.Command = &table.Plan{Basis: st.Basis(), Handoffs: handoffs}
	if sameHandoffs(handoffs, st.Handoffs()) {
		over, err := pl.switchIsOver(st, away)
		if err != nil || !over {
			return err
		}
		next = &table.EndSwitch{Since: st.Cluster().Since, Basis: st.Basis()}
	}
	ctx, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	err = pl.e.cfg.Table.Apply(ctx, next)
	if table.IsRefused(err) {
		return nil // the table has changed: a further look follows
	}
	return err
}

// switchIsOver reports whether the strategy was switched and the placement has become that of the new
// one, bounds included.
func (pl *planner) switchIsOver(st *table.State, away Absence) (bool, error) {
	if !st.Cluster().Unfinished || len(st.Handoffs()) > 0 || len(away) > 0 {
		return false, nil
	}
	desired, err := DesiredPlacement(st, pl.e.cfg.Strategy, st.MembersOf())
	if err != nil {
		return false, err
	}
	for row := range st.Rows() {
		is := desired.Lookup(row.Range.Start)
		if is.Primary != row.Primary || !sameNodes(is.Backups, row.Backups) || len(row.Learners) > 0 {
			return false, nil
		}
		// Neighbours of different lineages cannot be merged.
		before, _ := st.Row(row.Range.Start - 1)
		if is.Range.Start != row.Range.Start && before.Lineage == row.Lineage || !is.Range.Contains(row.Range.Start+ring.Token(row.Range.Len()-1)) {
			return false, nil
		}
	}
	return true, nil
}

// planTimeout bounds the wait for a plan to be decided: a node that has lost the leadership must
// not go on planning.
const planTimeout = 10 * time.Second

func sameHandoffs(a []table.Handoff, b []*table.Handoff) bool {
	if len(a) != len(b) {
		return false
	}
	for _, h := range a {
		if !slices.ContainsFunc(b, func(o *table.Handoff) bool {
			return o.ID == h.ID && samePieces(o.Pieces, h.Pieces)
		}) {
			return false
		}
	}
	return true
}

// samePieces compares pieces in any order.
func samePieces(a, b []ring.Piece) bool {
	if len(a) != len(b) {
		return false
	}
	for _, p := range a {
		if !slices.Contains(b, p) {
			return false
		}
	}
	return true
}
