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

// errResigning says that a node that is about to end takes nothing in.
var errResigning = errors.New("the node is being stopped")

// resignPause is how long until what did not come about is tried again.
const resignPause = 20 * time.Millisecond

// maxReleased is how many rows a node leaves in one entry.
const maxReleased = 2048

// Resign prepares for the end of this node: backups become the primaries of its rows, so
// that nobody has to notice its end first, and where it is a backup it leaves the sets.
// No data moves. here tells which nodes are there to take over. What nobody else has
// stays this node's.
//
// It returns once nothing is left to do, or with the context's error; what is done by
// then stays so. From its call on the node takes no copies in and hands none over.
func (e *Engine) Resign(ctx context.Context, here func(node string) bool) error {
	e.resigning.Store(true)
	locks.Signal(e.scrub.startNow) // so that what was compared is remembered
	if n, ok := e.cfg.Table.State().Node(e.cfg.Self); !ok || n.Incarnation != e.cfg.Incarnation {
		return nil // it has begun nothing yet
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

// promotableRows are the rows of this node that a backup could take over, by the backup that
// is to.
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

// promoteTo makes a backup the primary of rows, which this node leaves.
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
		// Copies that are under way are given up.
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

// backupRows are the rows of others in whose sets this node is, as long as their primary is
// there: alone it would have to wait for this one's word.
func (e *Engine) backupRows(here func(string) bool) []*table.Row {
	var rows []*table.Row
	for row := range e.cfg.Table.State().Rows() {
		if slices.Contains(row.Backups, e.cfg.Self) && here(row.Primary) {
			rows = append(rows, row)
		}
	}
	return rows
}
