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
	// errHold says that a change of rows would have held clients for too long.
	errHold = errors.New("the backups were too slow for a change without a pause for clients")
	// errOccupied says that units which take long, such as scripts, run on all remaining ranges.
	errOccupied = errors.New("a script or another command that takes long runs on the range")
	// errUndecided says that the node closes before it knows the outcome of a proposal.
	errUndecided = errors.New("the outcome is not known")
)

// An occupiedError is errHold with the ranges on which long units run. The other ranges can change
// without them.
type occupiedError struct{ ranges []ring.Range }

func (o *occupiedError) Error() string { return errHold.Error() }
func (o *occupiedError) Unwrap() error { return errHold }

// changeUnoccupied is changeHeld without the ranges on which long units run. A script may run for
// any time and touches few ranges; the others do not wait for it. occupied are the ranges left out;
// the error is errOccupied if no range remains.
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

// changeHeld changes rows that this node serves while they are held. It holds them, waits until no
// unit runs on them and all members have all changes, and has the table decide. Until the proposal
// this takes Hold at most; no node serves the rows until the outcome is known. stream is that of a
// learner that must have everything as well; nil if there is none.
//
// If the node closes before the outcome is known, the rows stay held: they may belong to another
// node.
func (e *Engine) changeHeld(ctx context.Context, held []ring.Range, stream *stream.Stream, d decision) error {
	if err := e.holdMu.Lock(ctx); err != nil {
		return err // two changes would give back each other's rows
	}
	defer e.holdMu.Unlock()
	began := time.Now()
	if stream != nil {
		stream.SetUnthrottled(true) // throttled writers would keep their units open
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

// waitStill waits until no unit runs on the held ranges and all members have all changes.
func (e *Engine) waitStill(ctx context.Context, held []ring.Range, stream *stream.Stream) error {
	within, cancel := context.WithTimeoutCause(ctx, e.cfg.Hold, errHold)
	defer cancel()
	occupied, err := e.cfg.Front.Quiesce(within, held)
	if err == nil {
		err = e.feed.WaitDrained(within, held)
	}
	if err == nil && stream != nil {
		err = stream.Drained(within) // last: only after WaitDrained the store itself is silent
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
	// reported to tests
	stillStep, decidedStep step.Step
	// before runs when all is still, ahead of the first proposal.
	before func()
	// rows returns the rows of this node that still have to change, by the newest state.
	rows func() ([]*table.Row, error)
	// propose returns the command that changes them.
	propose func([]*table.Row) table.Command
	// undo returns a command that makes all earlier proposals of propose fail; nil if they cannot
	// succeed any more.
	undo func([]*table.Row) table.Command
	// epochs are those of the rows when the decision was prepared.
	epochs rowEpochs
}

// rowEpochs are the epochs of rows in which an operation began. Its findings do not hold in a later
// epoch, even if this node is the primary again: a member may have dropped its copy in between.
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

// isPast reports whether a row has begun another epoch since.
func (o rowEpochs) isPast(row *table.Row) bool {
	epoch, ok := o[row.Range]
	return ok && epoch != row.Epoch
}

// decide has the table change rows. After the proposal it waits for the outcome for as long as it
// takes; the state says what it was. It returns nil if the rows have changed. After another error
// than errUndecided they have not, and no proposal that could change them is under way.
func (e *Engine) decide(ctx context.Context, d decision) error {
	var refused error
	for {
		rows, err := d.rows()
		// Proposals for rows of earlier epochs cannot succeed any more.
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
			// A proposal with an unknown outcome may still be applied, but not to rows that have
			// changed since.
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

// undoByRenewing builds a decision that is rolled back by bumping row versions.
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

// cutOver makes the receiver the primary of a portion, without ranges on which long units run.
// Those leave the portion.
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

// cutOverDecision builds the decision that makes a learner the primary of a portion.
func (e *Engine) cutOverDecision(c *portionCopy) decision {
	return decision{
		stillStep: step.HandoffStill, decidedStep: step.HandoffDecided,
		// Once it is decided the receiver feeds this node. These changes would return to the
		// receiver by the copy's taps, late, and undo newer writes.
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

// admitLearner makes the receiver an in-sync backup of a portion. It counts before the proposal,
// and as long as the proposal may be applied.
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
	// Rows without the receiver: it was refused, or the plan was another one.
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

// dropLearner ends the copy of those rows that the receiver still learns.
func (c *portionCopy) dropLearner(rows []*table.Row) table.Command {
	if rows = c.learnedRows(rows); len(rows) == 0 {
		return nil
	}
	return &table.DropLearner{Node: c.h.To, Rows: refs(rows)}
}

// learnedRows returns the rows that the receiver learns.
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

// servedRows returns the rows of this node that overlap a portion.
func (e *Engine) servedRows(p *portion) []*table.Row {
	var rows []*table.Row
	for row := range e.cfg.Table.State().Rows() {
		if row.Primary == e.cfg.Self && p.overlaps(row.Range) {
			rows = append(rows, row)
		}
	}
	return rows
}

// isRecut reports whether rows have other bounds than the portion, or belong to another handoff,
// for which the receiver starts without any data.
func (c *portionCopy) isRecut(rows []*table.Row) bool {
	return slices.ContainsFunc(rows, func(row *table.Row) bool {
		return !slices.Contains(c.p.ranges, row.Range) || row.Op.Handoff != c.h.ID
	})
}

// overlaps reports whether a range overlaps the portion.
func (p *portion) overlaps(r ring.Range) bool {
	return slices.ContainsFunc(p.ranges, func(own ring.Range) bool {
		return own.Contains(r.Start) || r.Contains(own.Start)
	})
}
