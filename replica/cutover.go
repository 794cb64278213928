package replica

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/stream"
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

// An occupiedError is errHold where units run on some of the ranges that were held. The others
// can change without them.
type occupiedError struct{ ranges []ring.Range }

func (o *occupiedError) Error() string { return errHold.Error() }
func (o *occupiedError) Unwrap() error { return errHold }

// changeUnoccupied is exchange for those of rows on which no unit takes long. Such a unit may run
// for as long as a script does, and touches few ranges; the others do not wait for it. It
// returns the ranges that have not changed since such units run there: with errOccupied if
// these are all.
func (e *Engine) changeUnoccupied(ctx context.Context, held []ring.Range, stream *stream.Stream, d func(held []ring.Range) decision) (occupied []ring.Range, err error) {
	for {
		err := e.changeHeld(ctx, held, stream, d(held))
		var o *occupiedError
		if !errors.As(err, &o) {
			return occupied, err
		}
		occupied = append(occupied, o.ranges...)
		if held = withoutRanges(held, o.ranges); len(held) == 0 {
			return occupied, errOccupied
		}
	}
}

// withoutRanges returns the ranges that are not among others.
func withoutRanges(ranges, others []ring.Range) []ring.Range {
	return slices.DeleteFunc(slices.Clone(ranges), func(r ring.Range) bool { return slices.Contains(others, r) })
}

// changeHeld holds rows that this node serves, waits until nothing runs on them and
// everybody who counts has everything, and has the table decide how they go on. While
// that is decided nobody serves them; before it is proposed, that takes Hold at most.
// stream is that of a learner that is to have everything too, nil if there is none.
//
// Whoever ends it before the outcome is known leaves the rows held: they may be another
// node's.
func (e *Engine) changeHeld(ctx context.Context, held []ring.Range, stream *stream.Stream, d decision) error {
	if err := e.holdMu.Lock(ctx); err != nil {
		return err // two would give back each other's rows
	}
	defer e.holdMu.Unlock()
	began := time.Now()
	if stream != nil {
		stream.SetUnthrottled(true) // those who wait for their turn would keep the front from being still
		defer stream.SetUnthrottled(false)
	}
	e.hold(held, true)
	err := e.waitStill(ctx, held, stream)
	if err == nil {
		if d.before != nil {
			d.before()
		}
		e.reached(d.stillStep)
		if err = e.decide(ctx, d); err == nil {
			e.reached(d.decidedStep)
		}
	}
	if !errors.Is(err, errUndecided) {
		e.hold(held, false)
	}
	e.totals.held.Add(int64(time.Since(began)))
	return err
}

// waitStill waits until nothing runs on the held ranges and all who count have everything.
func (e *Engine) waitStill(ctx context.Context, held []ring.Range, stream *stream.Stream) error {
	within, cancel := context.WithTimeoutCause(ctx, e.cfg.Hold, errHold)
	defer cancel()
	occupied, err := e.cfg.Front.Quiesce(within, held)
	if err == nil {
		err = e.feed.WaitDrained(within, held)
	}
	if err == nil && stream != nil {
		err = stream.Drained(within) // last: only now the store is still too
	}
	switch {
	case err == nil || within.Err() == nil || ctx.Err() != nil:
		return err
	case len(occupied) > 0:
		return &occupiedError{occupied}
	}
	return errHold
}

// A decision is one change of rows.
type decision struct {
	// stillStep and decided are what it comes to.
	stillStep, decidedStep step.Step
	// before is called when everything is still, ahead of the first proposal.
	before func()
	// rows returns the rows of this node that are still to be changed, by the newest
	// state.
	rows func() ([]*table.Row, error)
	// propose changes them.
	propose func([]*table.Row) table.Command
	// undo changes them so that no next that was proposed earlier can come to pass; nil
	// if they are so.
	undo func([]*table.Row) table.Command
	// epochs are the epochs of the rows in which all this is so.
	epochs rowEpochs
}

// rowEpochs are the terms of office, by the epochs of rows, in which something that takes time
// was begun. What was found out in one says nothing of the next, even if that is this node's
// again: who had a copy may have dropped it in between.
type rowEpochs map[ring.Range]uint64

func epochsOf(st *table.State, ranges []ring.Range) rowEpochs {
	o := make(rowEpochs, len(ranges))
	for _, r := range ranges {
		if row, ok := st.Row(r.Start); ok && row.Range == r {
			o[r] = row.Epoch
		}
	}
	return o
}

// isPast tells whether a row has begun another term of office since.
func (o rowEpochs) isPast(row *table.Row) bool {
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
		rows, err := d.rows()
		// What was proposed of rows of earlier terms cannot come to pass any more.
		all := len(rows)
		rows = slices.DeleteFunc(rows, d.epochs.isPast)
		if again := len(rows) < all; again && err == nil {
			err = feed.ErrChanged
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
			command = d.propose(rows)
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
			locks.Pause(ctx, 10*time.Millisecond)
		}
	}
}

// undoByRenewing is a decision about rows that is undone by giving them their next versions.
func (e *Engine) undoByRenewing(still, decided step.Step, held []ring.Range, next func([]*table.Row) table.Command) decision {
	p := &portion{ranges: held}
	return decision{
		stillStep: still, decidedStep: decided,
		rows: func() ([]*table.Row, error) {
			rows := e.servedRows(p)
			return slices.DeleteFunc(rows, func(row *table.Row) bool { return !slices.Contains(held, row.Range) }), nil
		},
		propose: next,
		undo:    func(rows []*table.Row) table.Command { return &table.Renew{Rows: refs(rows)} },
		epochs:  epochsOf(e.cfg.Table.State(), held),
	}
}

// cutOver makes the receiver the primary of a portion, without the ranges on which units take
// long: these leave the portion.
func (e *Engine) cutOver(ctx context.Context, c *portionCopy) error {
	for {
		if err := c.checkWanted(); err != nil {
			return err
		}
		occupied, err := e.changeUnoccupied(ctx, c.p.ranges, c.t.stream, func(held []ring.Range) decision {
			c.p.ranges = held
			return e.cutOverDecision(c)
		})
		c.t.occupied = append(c.t.occupied, occupied...)
		if !errors.Is(err, errHold) {
			return err
		}
		e.noteWait(c.t, Cutover, "a cutover without a pause for clients")
		locks.Pause(ctx, e.cfg.Retry)
		if err := errors.Join(ctx.Err(), c.t.stream.Drained(ctx)); err != nil {
			return err
		}
		e.noteWait(c.t, NotWaiting, "")
	}
}

// cutOverDecision is the decision that a learner is the primary of a portion. It returns with the
// ranges either there, or here.
func (e *Engine) cutOverDecision(c *portionCopy) decision {
	return decision{
		stillStep: step.HandoffStill, decidedStep: step.HandoffDecided,
		// As soon as it is decided the receiver feeds this node. What it writes would go
		// back to it by the copy's taps, late, and undo what it has written since.
		before: c.close,
		rows: func() ([]*table.Row, error) {
			rows := e.servedRows(c.p)
			if c.isRecut(rows) {
				return rows, feed.ErrChanged
			}
			return rows, nil
		},
		propose: func(rows []*table.Row) table.Command {
			return &table.CutOver{To: c.h.To, Incarnation: c.t.incarnation, Admit: true, Rows: refs(rows)}
		},
		undo:   c.dropLearner,
		epochs: c.epochs,
	}
}

// admitLearner makes the receiver an in-sync backup of a portion. It counts before that is
// proposed, and goes on to count as long as it may come to pass.
func (e *Engine) admitLearner(ctx context.Context, c *portionCopy) error {
	if err := c.checkWanted(); err != nil {
		return err
	}
	out := c.out
	if err := e.countLearner(ctx, c.p.ranges, c.h.To, c.t.incarnation, c.t.stream, out); err != nil {
		return err
	}
	e.reached(step.GrowthCounted)
	c.out = nil
	err := e.decide(ctx, decision{
		rows: func() ([]*table.Row, error) {
			rows := c.learnedRows(e.servedRows(c.p))
			if c.isRecut(rows) {
				return rows, feed.ErrChanged
			}
			return rows, nil
		},
		propose: func(rows []*table.Row) table.Command {
			return &table.Admit{Node: c.h.To, Incarnation: c.t.incarnation, Rows: refs(rows)}
		},
		undo:   c.dropLearner,
		epochs: c.epochs,
	})
	if errors.Is(err, errUndecided) {
		return err
	}
	e.reached(step.GrowthAdmitted)
	// Rows in which it has no place: it was refused, or the plan was another before.
	var outside []ring.Range
	for _, row := range e.servedRows(c.p) {
		if !row.Holds(c.h.To) {
			outside = append(outside, row.Range)
		}
	}
	if len(outside) > 0 {
		e.feed.StopCounting(outside, c.h.To)
		err = errors.Join(err, feed.ErrChanged)
	}
	return err
}

// dropLearner ends the copying of those rows that are still being learned.
func (c *portionCopy) dropLearner(rows []*table.Row) table.Command {
	if rows = c.learnedRows(rows); len(rows) == 0 {
		return nil
	}
	return &table.DropLearner{Node: c.h.To, Rows: refs(rows)}
}

// learnedRows are those of rows that the receiver learns.
func (c *portionCopy) learnedRows(rows []*table.Row) []*table.Row {
	return slices.DeleteFunc(rows, func(row *table.Row) bool { return !slices.Contains(row.Learners, c.h.To) })
}

func refs(rows []*table.Row) []table.Ref {
	var all []table.Ref
	for _, row := range rows {
		all = append(all, row.Ref())
	}
	return all
}

// servedRows are the rows that this node serves and that have a part of a portion.
func (e *Engine) servedRows(p *portion) []*table.Row {
	var rows []*table.Row
	for row := range e.cfg.Table.State().Rows() {
		if row.Primary == e.cfg.Self && p.overlaps(row.Range) {
			rows = append(rows, row)
		}
	}
	return rows
}

// isRecut tells whether rows are other ranges than the portion's by now, or part of another
// handoff, for which the receiver has begun with nothing.
func (c *portionCopy) isRecut(rows []*table.Row) bool {
	return slices.ContainsFunc(rows, func(row *table.Row) bool {
		return !slices.Contains(c.p.ranges, row.Range) || row.Op.Handoff != c.h.ID
	})
}

// overlaps tells whether a range has a part of the portion.
func (p *portion) overlaps(r ring.Range) bool {
	return slices.ContainsFunc(p.ranges, func(own ring.Range) bool {
		return own.Contains(r.Start) || r.Contains(own.Start)
	})
}
