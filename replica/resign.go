package replica

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// errResigning says that a stopping node accepts no copies.
var errResigning = errors.New("the node is being stopped")

// resignPause is the pause before a failed step is tried again.
const resignPause = 20 * time.Millisecond

// maxReleased is the number of rows that a node leaves in one entry.
const maxReleased = 2048

// Resign prepares the stop of this node. Backups become the primaries of its rows, so that no
// failover is needed, and the node leaves the sets of which it is a backup. No data moves. here
// reports which nodes can take over. Ranges without another copy stay this node's.
//
// It returns once nothing is left to do, or with the error of ctx; completed steps stay. From the
// call on the node accepts no copies and sends none.
func (e *Engine) Resign(ctx context.Context, here func(node string) bool) error {
	e.resigning.Store(true)
	e.scrub.Wake() // saves the progress of the scrub
	if n, ok := e.cfg.Table.State().Node(e.cfg.Self); !ok || n.Incarnation != e.cfg.Incarnation {
		return nil // this start has no ranges yet
	}
	for {
		rows := e.promotableRows(here)
		if len(rows) == 0 {
			break
		}
		var faults []error
		for to, rows := range rows {
			if err := e.promoteTo(ctx, to, rows); err != nil {
				faults = append(faults, err)
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(faults) > 0 {
			e.cfg.Logger.Debug("promoting backups failed, trying again", "err", errors.Join(faults...))
			locks.Pause(ctx, resignPause)
		}
	}
	for {
		rows := e.backupRows(here)
		if len(rows) == 0 {
			return nil
		}
		rows = rows[:min(len(rows), maxReleased)]
		err := e.cfg.Table.Apply(ctx, &table.Release{Rows: refs(rows), Node: e.cfg.Self})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			locks.Pause(ctx, resignPause)
		}
	}
}

// promotableRows returns the rows of this node that a backup can take over, by that backup.
func (e *Engine) promotableRows(here func(string) bool) map[string][]*table.Row {
	rows := make(map[string][]*table.Row)
	st := e.cfg.Table.State()
	takes := func(node string) bool {
		n, ok := st.Node(node)
		return ok && n.Counts() && here(node)
	}
	for row := range st.Rows() {
		if row.Primary != e.cfg.Self || row.Incarnation != e.cfg.Incarnation {
			continue
		}
		if i := slices.IndexFunc(row.Backups, takes); i >= 0 {
			rows[row.Backups[i]] = append(rows[row.Backups[i]], row)
		}
	}
	return rows
}

// promoteTo makes a backup the primary of rows, whose sets this node leaves.
func (e *Engine) promoteTo(ctx context.Context, to string, rows []*table.Row) error {
	n, _ := e.cfg.Table.State().Node(to)
	for part := range slices.Chunk(rows, maxPromoted) {
		var held []ring.Range
		learning := make(map[string][]*table.Row)
		for _, row := range part {
			held = append(held, row.Range)
			if row.Op.Handoff != 0 && slices.Contains(row.Learners, row.Op.To) {
				learning[row.Op.To] = append(learning[row.Op.To], row)
			}
		}
		// Running copies are given up.
		for node, rows := range learning {
			if err := e.cfg.Table.Apply(ctx, &table.DropLearner{Node: node, Rows: refs(rows)}); err != nil {
				return err
			}
		}
		occupied, err := e.changeUnoccupied(ctx, held, nil, func(held []ring.Range) decision {
			return e.undoByRenewing(step.PromotionStill, step.PromotionDone, held, func(rows []*table.Row) table.Command {
				return &table.CutOver{To: to, Incarnation: n.Incarnation, Leave: true, Rows: refs(rows)}
			})
		})
		if err != nil {
			return err
		}
		e.totals.promoted.Add(int64(len(held) - len(occupied)))
	}
	return nil
}

// backupRows returns the rows of other primaries of which this node is a backup. Rows whose primary
// is away are left out: this copy may be needed.
func (e *Engine) backupRows(here func(string) bool) []*table.Row {
	var rows []*table.Row
	for row := range e.cfg.Table.State().Rows() {
		if slices.Contains(row.Backups, e.cfg.Self) && here(row.Primary) {
			rows = append(rows, row)
		}
	}
	return rows
}
