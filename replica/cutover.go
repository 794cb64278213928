package replica

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// errHold says that a cutover would have kept clients waiting too long.
var errHold = errors.New("the receiver was too slow for a cutover")

// cutOver makes the receiver the primary of a portion. While it is decided, nobody
// serves the ranges; before it is proposed, that takes Hold at most.
func (e *Engine) cutOver(ctx context.Context, c *copying, incarnation uint64) error {
	for {
		if err := c.wanted(); err != nil {
			return err
		}
		began := time.Now()
		c.t.stream.Urge(true) // those who wait for their turn would keep the front from being still
		e.hold(c.p.ranges, true)
		err := e.still(ctx, c.t.stream)
		if err == nil {
			err = e.decide(ctx, c, incarnation)
		}
		e.hold(c.p.ranges, false)
		c.t.stream.Urge(false)
		e.totals.held.Add(int64(time.Since(began)))
		if !errors.Is(err, errHold) {
			return err
		}
		c.t.waits.set("a cutover without a pause for clients")
		e.cfg.Logger.Info("cutover put off", "handoff", c.h.ID, "node", c.h.To)
		pause(ctx, e.cfg.Retry)
		if err := errors.Join(ctx.Err(), c.t.stream.Drained(ctx)); err != nil {
			return err
		}
		c.t.waits.set("")
	}
}

// still waits until nothing runs on the held ranges and the receiver has everything.
func (e *Engine) still(ctx context.Context, stream *Stream) error {
	within, cancel := context.WithTimeoutCause(ctx, e.cfg.Hold, errHold)
	defer cancel()
	err := e.cfg.Front.Quiesce(within)
	if err == nil {
		err = stream.Drained(within)
	}
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return errHold
	}
	return err
}

// decide has the table make the receiver the primary. Once that is proposed its outcome
// is waited for, as long as it takes: the state says what it was. It returns with the
// ranges either there, or here and nothing under way that could still take them there.
func (e *Engine) decide(ctx context.Context, c *copying, incarnation uint64) error {
	var refused error
	for {
		rows := e.rowsAt(c.p)
		if c.recut(rows) {
			refused = errors.Join(refused, errChanged)
		}
		var next table.Command
		switch {
		case len(rows) == 0:
			return nil
		case refused == nil:
			next = &table.CutOver{To: c.h.To, Incarnation: incarnation, Leave: true, Admit: true, Rows: refs(rows)}
		default:
			// A proposal whose outcome was unknown may still come: not to rows that have
			// changed since, though.
			learning := slices.DeleteFunc(rows, func(row *table.Row) bool { return !slices.Contains(row.Learners, c.h.To) })
			if len(learning) == 0 {
				return refused
			}
			next = &table.DropLearner{Node: c.h.To, Rows: refs(learning)}
		}
		err := e.cfg.Table.Apply(ctx, next)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case table.IsRefused(err):
			refused = errors.Join(refused, err)
		case err != nil:
			pause(ctx, 10*time.Millisecond)
		}
	}
}

func refs(rows []*table.Row) []table.Ref {
	var all []table.Ref
	for _, row := range rows {
		all = append(all, row.Ref())
	}
	return all
}

// rowsAt are the rows that this node serves and that have a part of a portion.
func (e *Engine) rowsAt(p *portion) []*table.Row {
	var rows []*table.Row
	for row := range e.cfg.Table.State().Rows() {
		if row.Primary == e.cfg.Self && p.touches(row.Range) {
			rows = append(rows, row)
		}
	}
	return rows
}

// recut tells whether rows are other ranges than the portion's by now.
func (c *copying) recut(rows []*table.Row) bool {
	return slices.ContainsFunc(rows, func(row *table.Row) bool { return !slices.Contains(c.p.ranges, row.Range) })
}

// touches tells whether a range has a part of the portion.
func (p *portion) touches(r ring.Range) bool {
	return slices.ContainsFunc(p.ranges, func(own ring.Range) bool {
		return own.Contains(r.Start) || r.Contains(own.Start)
	})
}
