package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/stream"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A transfer is a handoff that this node carries out as its source. Engine.mu guards the fields
// below it; the others belong to the goroutine that carries it out, or are atomic.
type transfer struct {
	id uint64
	to string

	// Guarded by Engine.mu:
	running   bool
	failures  int
	notBefore time.Time

	started     time.Time
	incarnation uint64 // of the receiver
	stream      *stream.Stream
	loads       map[ring.Range]ring.Load // at the first look, by range
	progressed  bool                     // a portion has changed hands in this try
	occupied    []ring.Range             // ranges left out of this try, since long units run there
	handedLoad  ring.Load                // load that has changed hands in all tries

	wait    waitReason
	copying atomic.Pointer[ranges] // ranges being copied
	keys    progressCounter        // done and total
	bytes   progressCounter
	recent  rateMeter
}

type ranges []ring.Range

// A portion is the ranges of a handoff that are copied and cut over together.
type portion struct {
	ranges  []ring.Range
	load    ring.Load
	primary bool // the receiver is to become the primary
}

const (
	// portionBytes is the least size of a portion: less is not worth a cutover.
	portionBytes = 64 << 20
	// portions is the number of portions of a large handoff. Only writes in the present portion go
	// over the network.
	portions = 32
	// portionRanges is the largest number of ranges of a portion. Each range has a copy of its own,
	// and beginning one takes a time in proportion to their number, on both sides. All ranges of a
	// portion are closed to clients while it is cut over.
	portionRanges = 256
)

// streamPurpose opens a stream. It travels as JSON.
type streamPurpose struct {
	Handoff uint64
	From    string
	// Incarnation is that of the receiver, by the table.
	Incarnation uint64
	Sender      uint64 // of the sender
}

// streamRanges names the ranges that follow on a stream. It travels as JSON.
type streamRanges struct {
	Ranges []ring.Range
	// Session and Frame name the newest frame that the sender has fed to the receiver. Joins up to
	// that frame are older than the copy.
	Session, Frame uint64
	// Versions are those of the rows that make the receiver a learner. An older version belongs to
	// an earlier copy.
	Versions []uint64
}

// Reasons to end a try early.
var (
	// errUnreachable says that no connection to the receiver could be opened.
	errUnreachable = errors.New("the receiver cannot be reached")
	// errBusy says that all remaining ranges are part of another handoff for now.
	errBusy = errors.New("another handoff has the same ranges")
)

// handOff carries out one handoff from its phase to its end: first the steps that move no data,
// then portion by portion. The point of no return of a portion is the entry that changes its rows.
// A failure before it leaves the rows as they were; a failure after it finds them changed. The
// outcome is never guessed: the state of the table says it.
func (e *Engine) handOff(ctx context.Context, t *transfer) error {
	st := e.cfg.Table.State()
	h, ok := st.Handoff(t.id)
	if !ok {
		return nil
	}
	to, ok := st.Node(h.To)
	if !ok {
		return fmt.Errorf("%w: %s is not known", errUnreachable, h.To)
	}
	t.incarnation = to.Incarnation
	t.occupied = nil
	defer e.closeStream(t)
	for {
		now, ok := e.cfg.Table.State().Handoff(t.id)
		if !ok {
			return e.handoffGone(t, h)
		}
		h = now
		if err := e.splitRows(ctx, t, h); err != nil && !errors.Is(err, errOccupied) {
			return err
		}
		if err := e.releaseCopies(ctx, h); err != nil {
			return err
		}
		if rows := t.withoutOccupied(e.rowsFor(h, promoteTask)); len(rows) > 0 {
			if err := e.promote(ctx, t, rows); err == nil {
				t.progressed = true
			} else if !errors.Is(err, errOccupied) {
				return err
			}
			continue
		}
		switch rows := t.withoutOccupied(append(e.rowsFor(h, moveTask), e.rowsFor(h, backupTask)...)); {
		case len(rows) > 0:
		case len(t.occupied) > 0:
			return errOccupied
		default:
			return e.finishHandoff(ctx, t, h)
		}
		if err := e.openStream(ctx, t); err != nil {
			return err
		}
		learned, err := e.addLearners(ctx, t, h)
		if err != nil {
			return err
		}
		t.measure(e.cfg.Store, learned)
		if learned = t.withoutOccupied(learned); len(learned) == 0 {
			return errBusy
		}
		if err := e.handOver(ctx, t, h, t.portion(h, learned)); err == nil {
			t.progressed = true
		} else if !errors.Is(err, errOccupied) {
			return err
		}
	}
}

// withoutOccupied returns the rows that this try has not left out.
func (t *transfer) withoutOccupied(rows []*table.Row) []*table.Row {
	return slices.DeleteFunc(rows, func(row *table.Row) bool { return slices.Contains(t.occupied, row.Range) })
}

// openStream opens the stream. It waits until the receiver is free.
func (e *Engine) openStream(ctx context.Context, t *transfer) error {
	if t.stream != nil {
		return nil
	}
	text, err := json.Marshal(streamPurpose{Handoff: t.id, From: e.cfg.Self, Incarnation: t.incarnation, Sender: e.cfg.Incarnation})
	if err != nil {
		return err
	}
	conn, err := e.cfg.Dial(ctx, t.to)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	t.stream = stream.New(conn, text)
	return t.stream.Ready(ctx)
}

// closeStream ends the stream.
func (e *Engine) closeStream(t *transfer) {
	if t.stream != nil {
		e.totals.traffic.Add(t.stream.Sent() + t.stream.Received())
		t.stream.Close()
		t.stream = nil
	}
}

// measure records the load of the ranges, for portions and progress, once.
func (t *transfer) measure(s Store, rows []*table.Row) {
	known := func(row *table.Row) bool { _, ok := t.loads[row.Range]; return ok }
	if t.loads != nil && !slices.ContainsFunc(rows, func(row *table.Row) bool { return !known(row) }) {
		return
	}
	loads := make(map[ring.Range]ring.Load, len(rows))
	var all ring.Load
	for _, row := range rows {
		load := s.Load(row.Range)
		loads[row.Range] = load
		all = all.Add(load)
	}
	t.loads = loads
	t.keys.set(t.handedLoad.Keys, t.handedLoad.Keys+all.Keys)
	t.bytes.set(t.handedLoad.Bytes, t.handedLoad.Bytes+all.Bytes)
}

// portion returns the next portion. Ranges that change their primary come before copies.
func (t *transfer) portion(h *table.Handoff, rows []*table.Row) *portion {
	enough := max(portionBytes, t.bytes.total.Load()/portions)
	p := new(portion)
	for _, row := range rows {
		piece, _ := h.Carries(row.Range)
		load := t.loads[row.Range]
		if len(p.ranges) > 0 && (piece.Primary != p.primary || p.load.Bytes+load.Bytes > enough) || len(p.ranges) == portionRanges {
			break
		}
		p.primary = piece.Primary
		p.ranges = append(p.ranges, row.Range)
		p.load = p.load.Add(load)
	}
	return p
}

// handOver copies a portion and makes the receiver its primary or an in-sync backup.
func (e *Engine) handOver(ctx context.Context, t *transfer, h *table.Handoff, p *portion) error {
	doing := ranges(p.ranges)
	t.copying.Store(&doing)
	defer e.sweeper.sweepSoon() // the sweep skipped these ranges meanwhile
	defer t.copying.Store(nil)
	b := streamRanges{Ranges: p.ranges}
	st := e.cfg.Table.State()
	for _, r := range p.ranges {
		row, ok := st.Row(r.Start)
		if !ok || row.Range != r {
			return feed.ErrChanged
		}
		b.Versions = append(b.Versions, row.Version)
	}
	b.Session, b.Frame = e.feed.NewestFrame(t.to)
	text, err := json.Marshal(&b)
	if err != nil {
		return err
	}
	if err := t.stream.Begin(ctx, text); err != nil {
		return err
	}
	began := time.Now()
	c := &portionCopy{e: e, t: t, h: h, p: p, epochs: epochsOf(st, p.ranges)}
	defer c.close()
	if err := c.copyAll(ctx); err != nil {
		return err
	}
	e.totals.copying.Add(int64(time.Since(began)))
	if p.primary {
		err = e.cutOver(ctx, c)
	} else {
		err = e.admitLearner(ctx, c)
	}
	if err != nil {
		return err
	}
	c.close()
	t.copying.Store(nil)
	e.sweeper.noteHandedOff(p.ranges)
	var load ring.Load // without ranges that were left out since
	for _, r := range p.ranges {
		load = load.Add(t.loads[r])
	}
	t.handedLoad = t.handedLoad.Add(load)
	e.totals.ranges.Add(int64(len(p.ranges)))
	e.totals.keys.Add(load.Keys)
	e.totals.bytes.Add(load.Bytes)
	return nil
}

// addLearners makes the receiver a learner of all rows that it is to get, and returns those that it
// learns. Digests show later what it still has from earlier tries. Rows of another handoff wait for
// that one.
func (e *Engine) addLearners(ctx context.Context, t *transfer, h *table.Handoff) ([]*table.Row, error) {
	learning := func(row *table.Row) bool {
		i := slices.Index(row.Learners, h.To)
		return i >= 0 && row.Starts[i] == t.incarnation && row.Op.Handoff == h.ID
	}
	drop := &table.DropLearner{Node: h.To}
	for _, row := range e.rowsToCopy(h) {
		if slices.Contains(row.Learners, h.To) && !learning(row) {
			drop.Rows = append(drop.Rows, row.Ref())
		}
	}
	if len(drop.Rows) > 0 {
		if err := e.cfg.Table.Apply(ctx, drop); err != nil {
			return nil, err
		}
	}
	add := &table.AddLearner{Node: h.To, Incarnation: t.incarnation, Handoff: h.ID}
	for _, row := range e.rowsToCopy(h) {
		if !slices.Contains(row.Learners, h.To) && row.Op.Handoff == 0 {
			add.Rows = append(add.Rows, row.Ref())
		}
	}
	if len(add.Rows) > 0 {
		if err := e.cfg.Table.Apply(ctx, add); err != nil {
			return nil, err
		}
	}
	learned := slices.DeleteFunc(e.rowsToCopy(h), func(row *table.Row) bool { return !learning(row) })
	if len(learned) == 0 {
		return nil, errBusy
	}
	return learned, nil
}

// rowsToCopy returns the rows of which the receiver has no copy yet.
func (e *Engine) rowsToCopy(h *table.Handoff) []*table.Row {
	return append(e.rowsFor(h, moveTask), e.rowsFor(h, backupTask)...)
}

// finishHandoff removes a handoff without remaining tasks from the table.
func (e *Engine) finishHandoff(ctx context.Context, t *transfer, h *table.Handoff) error {
	now, ok := e.cfg.Table.State().Handoff(h.ID)
	if !ok {
		return e.handoffGone(t, h)
	}
	err := e.cfg.Table.Apply(ctx, &table.SetPhase{Handoff: h.ID, From: now.Phase, To: table.Done})
	if table.IsRefused(err) {
		return e.handoffGone(t, h)
	}
	if err == nil {
		e.totals.done.Add(1)
	}
	return err
}

// handoffGone returns the result of a try whose handoff the table has removed or changed. A new
// plan may have found first that nothing is left to do.
func (e *Engine) handoffGone(t *transfer, h *table.Handoff) error {
	if _, ok := e.cfg.Table.State().Handoff(h.ID); ok {
		return feed.ErrChanged
	}
	for row := range e.cfg.Table.State().Rows() {
		if taskOf(h, row) != noTask {
			return feed.ErrChanged
		}
	}
	if t.progressed {
		e.totals.done.Add(1)
	}
	return nil
}
