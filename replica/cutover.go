package replica

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

var (
	// errHold says that a change of rows would have kept clients waiting too long.
	errHold = errors.New("the backups were too slow for a change without a pause for clients")
	// errOccupied says that units which take long, scripts for instance, run on all ranges
	// that are left.
	errOccupied = errors.New("a script or another command that takes long runs on the range")
	// errUndecided says that the node ends before it knows what became of a proposal.
	errUndecided = errors.New("the outcome is not known")
)

// An occupation is errHold where units run on some of the ranges that were held. The others
// can change without them.
type occupation struct{ ranges []ring.Range }

func (o *occupation) Error() string { return errHold.Error() }
func (o *occupation) Unwrap() error { return errHold }

// exchangeFree is exchange for those of rows on which no unit takes long. Such a unit may run
// for as long as a script does, and touches few ranges; the others do not wait for it. It
// returns the ranges that have not changed since such units run there: with errOccupied if
// these are all.
func (e *Engine) exchangeFree(ctx context.Context, held []ring.Range, stream *Stream, d func(held []ring.Range) decision) (occupied []ring.Range, err error) {
	for {
		err := e.exchange(ctx, held, stream, d(held))
		var o *occupation
		if !errors.As(err, &o) {
			return occupied, err
		}
		occupied = append(occupied, o.ranges...)
		if held = allBut(held, o.ranges); len(held) == 0 {
			return occupied, errOccupied
		}
	}
}

// allBut returns the ranges that are not among others.
func allBut(ranges, others []ring.Range) []ring.Range {
	return slices.DeleteFunc(slices.Clone(ranges), func(r ring.Range) bool { return slices.Contains(others, r) })
}

// exchange holds rows that this node serves, waits until nothing runs on them and
// everybody who counts has everything, and has the table decide how they go on. While
// that is decided nobody serves them; before it is proposed, that takes Hold at most.
// stream is that of a learner that is to have everything too, nil if there is none.
//
// Whoever ends it before the outcome is known leaves the rows held: they may be another
// node's.
func (e *Engine) exchange(ctx context.Context, held []ring.Range, stream *Stream, d decision) error {
	if err := e.holdMu.lock(ctx); err != nil {
		return err // two would give back each other's rows
	}
	defer e.holdMu.unlock()
	began := time.Now()
	if stream != nil {
		stream.Urge(true) // those who wait for their turn would keep the front from being still
		defer stream.Urge(false)
	}
	e.hold(held, true)
	err := e.still(ctx, held, stream)
	if err == nil {
		if d.before != nil {
			d.before()
		}
		e.reached(d.still)
		if err = e.decide(ctx, d); err == nil {
			e.reached(d.decided)
		}
	}
	if !errors.Is(err, errUndecided) {
		e.hold(held, false)
	}
	e.totals.held.Add(int64(time.Since(began)))
	return err
}

// still waits until nothing runs on the held ranges and all who count have everything.
func (e *Engine) still(ctx context.Context, held []ring.Range, stream *Stream) error {
	within, cancel := context.WithTimeoutCause(ctx, e.cfg.Hold, errHold)
	defer cancel()
	occupied, err := e.cfg.Front.Quiesce(within, held)
	if err == nil {
		err = e.waitDrained(within, held)
	}
	if err == nil && stream != nil {
		err = stream.Drained(within) // last: only now the store is still too
	}
	switch {
	case err == nil || within.Err() == nil || ctx.Err() != nil:
		return err
	case len(occupied) > 0:
		return &occupation{occupied}
	}
	return errHold
}

// A decision is one change of rows.
type decision struct {
	// still and decided are what it comes to.
	still, decided Step
	// before is called when everything is still, ahead of the first proposal.
	before func()
	// look returns the rows of this node that are still to be changed, by the newest
	// state.
	look func() ([]*table.Row, error)
	// next changes them.
	next func([]*table.Row) table.Command
	// undo changes them so that no next that was proposed earlier can come to pass; nil
	// if they are so.
	undo func([]*table.Row) table.Command
	// offices are the epochs of the rows in which all this is so.
	offices offices
}

// offices are the terms of office, by the epochs of rows, in which something that takes time
// was begun. What was found out in one says nothing of the next, even if that is this node's
// again: who had a copy may have dropped it in between.
type offices map[ring.Range]uint64

func officesOf(st *table.State, ranges []ring.Range) offices {
	o := make(offices, len(ranges))
	for _, r := range ranges {
		if row, ok := st.Row(r.Start); ok && row.Range == r {
			o[r] = row.Epoch
		}
	}
	return o
}

// past tells whether a row has begun another term of office since.
func (o offices) past(row *table.Row) bool {
	epoch, ok := o[row.Range]
	return ok && epoch != row.Epoch
}

// decide has the table change rows. Once that is proposed its outcome is waited for, as
// long as it takes: the state says what it was. It returns nil if the rows are changed;
// with another error than errUndecided they are not, and nothing is under way that could
// still change them.
func (e *Engine) decide(ctx context.Context, d decision) error {
	var refused error
	for {
		rows, err := d.look()
		// What was proposed of rows of earlier terms cannot come to pass any more.
		all := len(rows)
		rows = slices.DeleteFunc(rows, d.offices.past)
		if again := len(rows) < all; again && err == nil {
			err = errChanged
		}
		if refused == nil {
			refused = err
		}
		switch {
		case len(rows) > 0:
		case all > 0:
			return refused
		default:
			return nil
		}
		undoing := refused != nil
		command := table.Command(nil)
		if undoing {
			// A proposal whose outcome was unknown may still come: not to rows that have
			// changed since, though.
			if command = d.undo(rows); command == nil {
				return refused
			}
		} else {
			command = d.next(rows)
		}
		err = e.cfg.Table.Apply(ctx, command)
		switch {
		case ctx.Err() != nil:
			return errors.Join(errUndecided, ctx.Err())
		case err == nil && undoing:
			return refused
		case table.IsRefused(err) && !undoing:
			refused = err
		case err != nil:
			pause(ctx, 10*time.Millisecond)
		}
	}
}

// voiding is a decision about rows that is undone by giving them their next versions.
func (e *Engine) voiding(still, decided Step, held []ring.Range, next func([]*table.Row) table.Command) decision {
	p := &portion{ranges: held}
	return decision{
		still: still, decided: decided,
		look: func() ([]*table.Row, error) {
			rows := e.rowsAt(p)
			return slices.DeleteFunc(rows, func(row *table.Row) bool { return !slices.Contains(held, row.Range) }), nil
		},
		next:    next,
		undo:    func(rows []*table.Row) table.Command { return &table.Renew{Rows: refs(rows)} },
		offices: officesOf(e.cfg.Table.State(), held),
	}
}

// cutOver makes the receiver the primary of a portion, without the ranges on which units take
// long: these leave the portion.
func (e *Engine) cutOver(ctx context.Context, c *copying) error {
	for {
		if err := c.wanted(); err != nil {
			return err
		}
		occupied, err := e.exchangeFree(ctx, c.p.ranges, c.t.stream, func(held []ring.Range) decision {
			c.p.ranges = held
			return e.handing(c)
		})
		c.t.occupied = append(c.t.occupied, occupied...)
		if !errors.Is(err, errHold) {
			return err
		}
		e.waits(c.t, Cutover, "a cutover without a pause for clients")
		pause(ctx, e.cfg.Retry)
		if err := errors.Join(ctx.Err(), c.t.stream.Drained(ctx)); err != nil {
			return err
		}
		e.waits(c.t, Going, "")
	}
}

// handing is the decision that a learner is the primary of a portion. It returns with the
// ranges either there, or here.
func (e *Engine) handing(c *copying) decision {
	return decision{
		still: HandoffStill, decided: HandoffDecided,
		// As soon as it is decided the receiver feeds this node. What it writes would go
		// back to it by the copy's taps, late, and undo what it has written since.
		before: c.close,
		look: func() ([]*table.Row, error) {
			rows := e.rowsAt(c.p)
			if c.recut(rows) {
				return rows, errChanged
			}
			return rows, nil
		},
		next: func(rows []*table.Row) table.Command {
			return &table.CutOver{To: c.h.To, Incarnation: c.t.incarnation, Admit: true, Rows: refs(rows)}
		},
		undo:    c.drop,
		offices: c.offices,
	}
}

// admit makes the receiver an in-sync backup of a portion. It counts before that is
// proposed, and goes on to count as long as it may come to pass.
func (e *Engine) admit(ctx context.Context, c *copying) error {
	if err := c.wanted(); err != nil {
		return err
	}
	out := c.out
	if err := e.countLearner(ctx, c.p.ranges, c.h.To, c.t.incarnation, c.t.stream, out); err != nil {
		return err
	}
	e.reached(GrowthCounted)
	c.out = nil
	err := e.decide(ctx, decision{
		look: func() ([]*table.Row, error) {
			rows := c.learning(e.rowsAt(c.p))
			if c.recut(rows) {
				return rows, errChanged
			}
			return rows, nil
		},
		next: func(rows []*table.Row) table.Command {
			return &table.Admit{Node: c.h.To, Incarnation: c.t.incarnation, Rows: refs(rows)}
		},
		undo:    c.drop,
		offices: c.offices,
	})
	if errors.Is(err, errUndecided) {
		return err
	}
	e.reached(GrowthAdmitted)
	// Rows in which it has no place: it was refused, or the plan was another before.
	var outside []ring.Range
	for _, row := range e.rowsAt(c.p) {
		if !row.Holds(c.h.To) {
			outside = append(outside, row.Range)
		}
	}
	if len(outside) > 0 {
		e.stopCounting(outside, c.h.To)
		err = errors.Join(err, errChanged)
	}
	return err
}

// drop ends the copying of those rows that are still being learned.
func (c *copying) drop(rows []*table.Row) table.Command {
	if rows = c.learning(rows); len(rows) == 0 {
		return nil
	}
	return &table.DropLearner{Node: c.h.To, Rows: refs(rows)}
}

// learning are those of rows that the receiver learns.
func (c *copying) learning(rows []*table.Row) []*table.Row {
	return slices.DeleteFunc(rows, func(row *table.Row) bool { return !slices.Contains(row.Learners, c.h.To) })
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

// recut tells whether rows are other ranges than the portion's by now, or part of another
// handoff, for which the receiver has begun with nothing.
func (c *copying) recut(rows []*table.Row) bool {
	return slices.ContainsFunc(rows, func(row *table.Row) bool {
		return !slices.Contains(c.p.ranges, row.Range) || row.Op.Handoff != c.h.ID
	})
}

// touches tells whether a range has a part of the portion.
func (p *portion) touches(r ring.Range) bool {
	return slices.ContainsFunc(p.ranges, func(own ring.Range) bool {
		return own.Contains(r.Start) || r.Contains(own.Start)
	})
}
