package replica

import (
	"context"
	"slices"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A rowTask is what a handoff still has to do about a row.
type rowTask uint8

const (
	noTask      rowTask = iota
	releaseTask         // the receiver gives up its copy
	promoteTask         // the receiver has everything and becomes the primary
	moveTask            // the receiver gets a copy and becomes the primary
	backupTask          // the receiver gets a copy
)

// taskOf returns what a handoff still has to do about a row of its source.
func taskOf(h *table.Handoff, row *table.Row) rowTask {
	piece, ok := h.Carries(row.Range)
	holds := row.Holds(h.To)
	switch {
	case !ok || row.Primary != h.From:
		return noTask
	case piece.Release == h.To:
		if holds {
			return releaseTask
		}
		return noTask
	case piece.Primary && holds:
		return promoteTask
	case piece.Primary:
		return moveTask
	case !holds:
		return backupTask
	}
	return noTask
}

// rowsFor returns the rows of a handoff of this node with a task.
func (e *Engine) rowsFor(h *table.Handoff, what rowTask) []*table.Row {
	var rows []*table.Row
	for row := range e.cfg.Table.State().Rows() {
		if taskOf(h, row) == what {
			rows = append(rows, row)
		}
	}
	return rows
}

// releaseCopies removes unwanted copies from their sets.
func (e *Engine) releaseCopies(ctx context.Context, h *table.Handoff) error {
	rows := e.rowsFor(h, releaseTask)
	if len(rows) == 0 {
		return nil
	}
	err := e.cfg.Table.Apply(ctx, &table.Release{Rows: refs(rows), Node: h.To})
	if table.IsRefused(err) {
		return feed.ErrChanged
	}
	return err
}

// maxPromoted is the number of rows that change their primary in one entry.
const maxPromoted = 512

// promote makes the receiver, which has everything, the primary of rows. No data moves.
func (e *Engine) promote(ctx context.Context, t *transfer, rows []*table.Row) error {
	all := make([]ring.Range, 0, len(rows))
	for _, row := range rows[:min(len(rows), maxPromoted)] {
		all = append(all, row.Range)
	}
	next := func(rows []*table.Row) table.Command {
		return &table.CutOver{To: t.to, Incarnation: t.incarnation, Rows: refs(rows)}
	}
	occupied, err := e.changeUnoccupied(ctx, all, nil, func(held []ring.Range) decision {
		return e.undoByRenewing(step.PromotionStill, step.PromotionDone, held, next)
	})
	t.occupied = append(t.occupied, occupied...)
	if err == nil {
		e.totals.promoted.Add(int64(len(all) - len(occupied)))
	}
	return err
}

// splitRows splits rows where the pieces of a handoff begin and end.
func (e *Engine) splitRows(ctx context.Context, t *transfer, h *table.Handoff) error {
	st := e.cfg.Table.State()
	at := make(map[ring.Range]int)
	var cuts []cut
	for _, piece := range h.Pieces {
		for _, token := range []ring.Token{piece.Range.Start, piece.Range.End} {
			row, ok := st.Row(token)
			if !ok || row.Range.Start == token || row.Primary != e.cfg.Self || slices.Contains(t.occupied, row.Range) {
				continue
			}
			i, ok := at[row.Range]
			if !ok {
				i = len(cuts)
				at[row.Range] = i
				cuts = append(cuts, cut{row: row.Range})
			}
			cuts[i].at = append(cuts[i].at, token)
		}
	}
	if len(cuts) == 0 {
		return nil
	}
	occupied, err := e.split(ctx, cuts)
	t.occupied = append(t.occupied, occupied...)
	return err
}

// A cut is a row of this node and the tokens where it is to be cut, in any order.
type cut struct {
	row ring.Range
	at  []ring.Token
}

// split splits rows. Rows in which long units run are left out and returned.
func (e *Engine) split(ctx context.Context, cuts []cut) (occupied []ring.Range, err error) {
	at := make(map[ring.Token][]ring.Token, len(cuts))
	order := make([]ring.Range, len(cuts))
	for i, c := range cuts {
		order[i] = c.row
		at[c.row.Start] = sortedFrom(c.row.Start, c.at)
	}
	return e.changeUnoccupied(ctx, order, nil, func(held []ring.Range) decision {
		return e.undoByRenewing(step.SplitStill, step.SplitDecided, held, func(rows []*table.Row) table.Command {
			split := &table.Split{}
			for _, row := range rows {
				split.Cuts = append(split.Cuts, table.Cut{Row: row.Ref(), At: at[row.Range.Start]})
			}
			return split
		})
	})
}

// sortedFrom sorts tokens by their distance from start, without duplicates.
func sortedFrom(start ring.Token, tokens []ring.Token) []ring.Token {
	slices.SortFunc(tokens, func(a, b ring.Token) int {
		switch x, y := a-start, b-start; {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return slices.Compact(tokens)
}
