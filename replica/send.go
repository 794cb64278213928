package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// chunkBytes is about how much one step of a copy takes under latches.
const chunkBytes = 256 << 10

// send carries out the handoffs of which this node is the source, one after the other.
func (e *Engine) send(ctx context.Context) {
	changes, cancel := e.cfg.Table.Changes()
	defer cancel()
	for ctx.Err() == nil {
		if h := e.mine(); h != nil {
			if err := e.handOff(ctx, h); err != nil && ctx.Err() == nil {
				e.totals.failed.Add(1)
				e.cfg.Logger.Warn("handoff", "handoff", h.ID, "node", h.To, "err", err)
				pause(ctx, e.cfg.Retry)
			}
			continue
		}
		select {
		case <-changes:
		case <-ctx.Done():
		}
	}
}

func (e *Engine) mine() *table.Handoff {
	for _, h := range e.cfg.Table.State().Handoffs() {
		if h.From == e.cfg.Self {
			return h
		}
	}
	return nil
}

// purpose is what a stream is opened for.
type purpose struct {
	Handoff uint64
	From    string
	// Incarnation is that of the receiver as the table has it.
	Incarnation uint64
	Ranges      []ring.Range
}

// handOff takes one handoff from its phase to its end. The point of no return is the
// entry that cuts over: whatever fails before leaves the ranges here, and whatever
// fails after finds them there. Nothing is guessed about it: the state says which.
func (e *Engine) handOff(ctx context.Context, h *table.Handoff) error {
	if err := e.cut(ctx, h); err != nil {
		return err
	}
	rows := e.rowsOf(h)
	if len(rows) == 0 {
		return e.finish(ctx, h)
	}
	to, ok := e.cfg.Table.State().Node(h.To)
	if !ok {
		return fmt.Errorf("%s is not known", h.To)
	}
	if err := e.learn(ctx, h, to.Incarnation); err != nil {
		return err
	}
	rows = e.rowsOf(h)
	ranges := make([]ring.Range, len(rows))
	for i, row := range rows {
		ranges[i] = row.Range
	}
	text, err := json.Marshal(purpose{Handoff: h.ID, From: e.cfg.Self, Incarnation: to.Incarnation, Ranges: ranges})
	if err != nil {
		return err
	}
	conn, err := e.cfg.Dial(ctx, h.To)
	if err != nil {
		return err
	}
	stream := NewStream(conn, text)
	defer stream.Close()
	began := time.Now()
	cancel, err := e.copyAll(ctx, stream, ranges)
	defer cancel()
	if err != nil {
		return err
	}
	copying := time.Since(began)
	var load ring.Load
	for _, r := range ranges {
		load = load.Add(e.cfg.Store.Load(r))
	}
	if err := e.cutOver(ctx, h, stream, to.Incarnation); err != nil {
		return err
	}
	cancel()
	e.totals.done.Add(1)
	e.totals.ranges.Add(int64(len(ranges)))
	e.totals.keys.Add(load.Keys)
	e.totals.bytes.Add(load.Bytes)
	e.totals.copying.Add(int64(copying))
	if err := e.cfg.Store.Drop(e.foreign(ranges)...); err != nil {
		e.cfg.Logger.Error("drop what was handed off", "handoff", h.ID, "node", h.To, "err", err)
	}
	return e.finish(ctx, h)
}

// foreign are those of the ranges in which this node has no place any more.
func (e *Engine) foreign(ranges []ring.Range) []ring.Range {
	st := e.cfg.Table.State()
	return slices.DeleteFunc(slices.Clone(ranges), func(r ring.Range) bool {
		row, ok := st.Row(r.Start)
		return !ok || row.Range != r || row.Holds(e.cfg.Self) || slices.Contains(row.Learners, e.cfg.Self)
	})
}

// cut makes rows begin and end where the pieces do.
func (e *Engine) cut(ctx context.Context, h *table.Handoff) error {
	st := e.cfg.Table.State()
	at := make(map[ring.Token]*table.Cut)
	var order []ring.Token
	for _, piece := range h.Pieces {
		for _, token := range []ring.Token{piece.Range.Start, piece.Range.End} {
			row, ok := st.Row(token)
			if !ok || row.Range.Start == token || row.Primary != e.cfg.Self {
				continue
			}
			c := at[row.Range.Start]
			if c == nil {
				c = &table.Cut{Row: row.Ref()}
				at[row.Range.Start] = c
				order = append(order, row.Range.Start)
			}
			c.At = append(c.At, token)
		}
	}
	if len(order) == 0 {
		return nil
	}
	split := &table.Split{}
	for _, start := range order {
		c := at[start]
		c.At = sortedFrom(start, c.At)
		split.Cuts = append(split.Cuts, *c)
	}
	return e.cfg.Table.Apply(ctx, split)
}

// rowsOf are the rows of a handoff that this node still serves.
func (e *Engine) rowsOf(h *table.Handoff) []*table.Row {
	var rows []*table.Row
	for row := range e.cfg.Table.State().Rows() {
		if row.Primary != e.cfg.Self {
			continue
		}
		if _, ok := h.Carries(row.Range); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// learn makes the receiver a learner of all rows, anew if an earlier try has got that
// far: nobody knows what its copy lacks by now.
func (e *Engine) learn(ctx context.Context, h *table.Handoff, incarnation uint64) error {
	if err := e.takeBack(ctx, h); err != nil {
		return err
	}
	drop := &table.DropLearner{Node: h.To}
	for _, row := range e.rowsOf(h) {
		if slices.Contains(row.Learners, h.To) {
			drop.Rows = append(drop.Rows, row.Ref())
		}
	}
	if len(drop.Rows) > 0 {
		if err := e.cfg.Table.Apply(ctx, drop); err != nil {
			return err
		}
	}
	add := &table.AddLearner{Node: h.To, Incarnation: incarnation, Handoff: h.ID}
	for _, row := range e.rowsOf(h) {
		add.Rows = append(add.Rows, row.Ref())
	}
	return e.cfg.Table.Apply(ctx, add)
}

// takeBack takes the receiver out of the sets that it is in. A copy in a set that is
// not served by it gets no writes yet, so it must not count while clients write.
func (e *Engine) takeBack(ctx context.Context, h *table.Handoff) error {
	release := &table.Release{Node: h.To}
	for _, row := range e.rowsOf(h) {
		if row.Holds(h.To) {
			release.Rows = append(release.Rows, row.Ref())
		}
	}
	if len(release.Rows) == 0 {
		return nil
	}
	return e.cfg.Table.Apply(ctx, release)
}

// copyAll puts all that lies in the ranges on the stream, with every change from now
// on behind it. The taps go on until cancel is called.
func (e *Engine) copyAll(ctx context.Context, stream *Stream, ranges []ring.Range) (cancel func(), err error) {
	var cancels []func()
	cancel = func() {
		for _, c := range cancels {
			c()
		}
		cancels = nil
	}
	sink := func(i int) func([]byte) {
		return func(batch []byte) { _ = stream.Send(i, batch) } // whose error Drained returns
	}
	for i, r := range ranges {
		end, err := e.cfg.Store.Tap(r, sink(i))
		if err != nil {
			return cancel, err
		}
		cancels = append(cancels, end)
	}
	for i, r := range ranges {
		var cursor []byte
		for {
			if err := stream.Room(ctx); err != nil {
				return cancel, err
			}
			if cursor, err = e.cfg.Store.Copy(r, cursor, chunkBytes, sink(i)); err != nil {
				return cancel, err
			}
			if cursor == nil {
				break
			}
		}
	}
	return cancel, stream.Drained(ctx)
}

// errHold says that a cutover would have kept clients waiting too long.
var errHold = errors.New("the receiver was too slow for a cutover")

// cutOver makes the receiver the primary. While it is decided, nobody serves the
// ranges; before it is proposed, that takes Hold at most.
func (e *Engine) cutOver(ctx context.Context, h *table.Handoff, stream *Stream, incarnation uint64) error {
	for {
		var ranges []ring.Range
		for _, row := range e.rowsOf(h) {
			ranges = append(ranges, row.Range)
		}
		began := time.Now()
		e.hold(ranges, true)
		err := e.still(ctx, stream)
		if err == nil {
			err = e.decide(ctx, h, incarnation)
		}
		e.hold(ranges, false)
		e.totals.held.Add(int64(time.Since(began)))
		if !errors.Is(err, errHold) {
			return err
		}
		e.cfg.Logger.Info("cutover put off", "handoff", h.ID, "node", h.To)
		pause(ctx, e.cfg.Retry)
		if err := errors.Join(ctx.Err(), stream.Drained(ctx)); err != nil {
			return err
		}
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
func (e *Engine) decide(ctx context.Context, h *table.Handoff, incarnation uint64) error {
	var refused error
	for {
		rows := e.rowsOf(h)
		var next table.Command
		switch {
		case len(rows) == 0:
			return nil
		case refused == nil:
			next = step(rows, h.To, incarnation)
		}
		var err error
		if next != nil {
			err = e.cfg.Table.Apply(ctx, next)
		} else if err = e.takeBack(ctx, h); err == nil {
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

// finish removes a handoff that has nothing left to do.
func (e *Engine) finish(ctx context.Context, h *table.Handoff) error {
	now, ok := e.cfg.Table.State().Handoff(h.ID)
	if !ok {
		return nil
	}
	err := e.cfg.Table.Apply(ctx, &table.SetPhase{Handoff: h.ID, From: now.Phase, To: table.Done})
	if table.IsRefused(err) {
		return nil
	}
	return err
}
