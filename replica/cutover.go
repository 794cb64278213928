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

// decide has the table make the receiver a full copy and then the primary. Once that
// is proposed its outcome is waited for, as long as it takes: the state says what it
// was. It returns with the ranges either there, or here and the receiver out of every
// set.
func (e *Engine) decide(ctx context.Context, c *copying, incarnation uint64) error {
	e.deciding(c.p, true)
	defer e.deciding(c.p, false)
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
			next = step(rows, c.h.To, incarnation)
		}
		var err error
		if next != nil {
			err = e.cfg.Table.Apply(ctx, next)
		} else if err = e.takeBack(ctx, c.h.To, rows); err == nil {
			return refused
		}
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

// step is the command that brings rows a step further towards their new primary.
func step(rows []*table.Row, to string, incarnation uint64) table.Command {
	admit := &table.Admit{Node: to, Incarnation: incarnation}
	over := &table.CutOver{To: to, Incarnation: incarnation, Leave: true}
	for _, row := range rows {
		if row.Holds(to) {
			over.Rows = append(over.Rows, row.Ref())
		} else {
			admit.Rows = append(admit.Rows, row.Ref())
		}
	}
	if len(admit.Rows) > 0 {
		return admit
	}
	return over
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

// deciding notes what is being decided.
func (e *Engine) deciding(p *portion, on bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if on {
		e.undecided = append(e.undecided, p)
		return
	}
	e.undecided = slices.DeleteFunc(e.undecided, func(o *portion) bool { return o == p })
}

// takeBack takes a node out of the sets of rows. A copy in a set that is not served by
// it gets no writes, so it must not count while clients write.
func (e *Engine) takeBack(ctx context.Context, node string, rows []*table.Row) error {
	release := &table.Release{Node: node}
	for _, row := range rows {
		if row.Holds(node) && row.Primary != node {
			release.Rows = append(release.Rows, row.Ref())
		}
	}
	if len(release.Rows) == 0 {
		return nil
	}
	return e.cfg.Table.Apply(ctx, release)
}

// undo takes every copy back that a handoff has left in a set without making it the
// primary: because this node has ended in between, or the handoff was cancelled.
func (e *Engine) undo(ctx context.Context) error {
	left := make(map[string][]*table.Row)
	st := e.cfg.Table.State()
	if n, ok := st.Node(e.cfg.Self); !ok || n.Incarnation != e.cfg.Incarnation {
		return nil // what is known is from before this start
	}
	e.mu.Lock()
	for row := range st.Rows() {
		if row.Primary == e.cfg.Self && len(row.Backups) > 0 &&
			!slices.ContainsFunc(e.undecided, func(p *portion) bool { return p.touches(row.Range) }) {
			for _, node := range row.Backups {
				left[node] = append(left[node], row)
			}
		}
	}
	e.mu.Unlock()
	var faults []error
	for node, rows := range left {
		faults = append(faults, e.takeBack(ctx, node, rows))
	}
	return errors.Join(faults...)
}
