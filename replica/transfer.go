package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A transfer is a handoff that this node carries out, as its source. What the engine's
// mutex guards is said; the rest belongs to the goroutine that carries it out, but for
// what is atomic.
type transfer struct {
	id uint64
	to string

	// Guarded by Engine.mu:
	running   bool
	failures  int
	notBefore time.Time

	started     time.Time
	incarnation uint64 // of the receiver
	stream      *Stream
	loads       map[ring.Range]ring.Load // of the ranges, when they were looked at first
	moved       bool                     // something has changed hands in this try
	occupied    []ring.Range             // left out of this try: units that take long run there
	handed      ring.Load                // what has, in all tries

	waits  waits
	doing  atomic.Pointer[ranges] // what is copied
	keys   figure                 // done and in all
	bytes  figure
	recent speed
}

type ranges []ring.Range

// A portion is those ranges of a handoff that are copied, and change hands, together.
type portion struct {
	ranges  []ring.Range
	load    ring.Load
	primary bool // the receiver is to serve them
}

const (
	// portionBytes is about what a portion holds at least: less is not worth a cutover.
	portionBytes = 64 << 20
	// portions is into how many a large handoff is parted: what clients write in one
	// of them goes over the network meanwhile, and the rest costs nothing.
	portions = 32
)

// purpose is what a stream is opened for.
type purpose struct {
	Handoff uint64
	From    string
	// Incarnation is that of the receiver as the table has it.
	Incarnation uint64
	Sender      uint64 // the sender's own
}

// A beginning says which ranges a stream goes on with.
type beginning struct {
	Ranges []ring.Range
	// Session and Frame are of the newest frame that the sender feeds to the receiver: what
	// that one is still to join by it, or by one before, is older than the copy.
	Session, Frame uint64
	// Versions are those of the rows, by which the receiver learns them: an older one, by
	// which it did so before, says nothing of this copy.
	Versions []uint64
}

// Why a try ends early.
var (
	// errUnreachable says that the receiver was not there to begin with.
	errUnreachable = errors.New("the receiver cannot be reached")
	// errChanged says that the table does not want any more what it wanted when a try
	// began.
	errChanged = errors.New("the plan has changed")
	// errBusy says that all that is left is part of another handoff for now.
	errBusy = errors.New("another handoff has the same ranges")
)

// handOff takes one handoff from its phase to its end: first what moves no data, then
// portion by portion. The point of no return of each is the entry that changes its rows:
// whatever fails before leaves them as they were, and whatever fails after finds them so.
// Nothing is guessed about it: the state says which.
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
	defer e.close(t)
	for {
		now, ok := e.cfg.Table.State().Handoff(t.id)
		if !ok {
			return e.gone(t, h)
		}
		h = now
		if err := e.cut(ctx, t, h); err != nil && !errors.Is(err, errOccupied) {
			return err
		}
		if err := e.giveUp(ctx, h); err != nil {
			return err
		}
		if rows := t.free(e.rowsFor(h, promoting)); len(rows) > 0 {
			if err := e.promote(ctx, t, rows); err == nil {
				t.moved = true
			} else if !errors.Is(err, errOccupied) {
				return err
			}
			continue
		}
		switch rows := t.free(append(e.rowsFor(h, moving), e.rowsFor(h, backing)...)); {
		case len(rows) > 0:
		case len(t.occupied) > 0:
			return errOccupied
		default:
			return e.finish(ctx, t, h)
		}
		if err := e.open(ctx, t); err != nil {
			return err
		}
		learned, err := e.learn(ctx, t, h)
		if err != nil {
			return err
		}
		t.look(e.cfg.Store, learned)
		if learned = t.free(learned); len(learned) == 0 {
			return errBusy
		}
		if err := e.handOver(ctx, t, h, t.portion(h, learned)); err == nil {
			t.moved = true
		} else if !errors.Is(err, errOccupied) {
			return err
		}
	}
}

// free returns the rows that this try has not left out.
func (t *transfer) free(rows []*table.Row) []*table.Row {
	return slices.DeleteFunc(rows, func(row *table.Row) bool { return slices.Contains(t.occupied, row.Range) })
}

// open opens the stream, which takes until the receiver has nothing else to do.
func (e *Engine) open(ctx context.Context, t *transfer) error {
	if t.stream != nil {
		return nil
	}
	text, err := json.Marshal(purpose{Handoff: t.id, From: e.cfg.Self, Incarnation: t.incarnation, Sender: e.cfg.Incarnation})
	if err != nil {
		return err
	}
	conn, err := e.cfg.Dial(ctx, t.to)
	if err != nil {
		return fmt.Errorf("%w: %w", errUnreachable, err)
	}
	t.stream = NewStream(conn, text)
	return t.stream.Ready(ctx)
}

// close ends the stream.
func (e *Engine) close(t *transfer) {
	if t.stream != nil {
		e.totals.traffic.Add(t.stream.Sent() + t.stream.Received())
		t.stream.Close()
		t.stream = nil
	}
}

// look notes what lies in the ranges, for portions and progress, if that has not been
// done.
func (t *transfer) look(s Store, rows []*table.Row) {
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
	t.keys.set(t.handed.Keys, t.handed.Keys+all.Keys)
	t.bytes.set(t.handed.Bytes, t.handed.Bytes+all.Bytes)
}

// portion is the next of the rows that are left: ranges that change hands before copies.
func (t *transfer) portion(h *table.Handoff, rows []*table.Row) *portion {
	enough := max(portionBytes, t.bytes.total.Load()/portions)
	p := new(portion)
	for _, row := range rows {
		piece, _ := h.Carries(row.Range)
		load := t.loads[row.Range]
		if len(p.ranges) > 0 && (piece.Primary != p.primary || p.load.Bytes+load.Bytes > enough) {
			break
		}
		p.primary = piece.Primary
		p.ranges = append(p.ranges, row.Range)
		p.load = p.load.Add(load)
	}
	return p
}

// handOver copies a portion and has the receiver serve it, or be in sync with it.
func (e *Engine) handOver(ctx context.Context, t *transfer, h *table.Handoff, p *portion) error {
	doing := ranges(p.ranges)
	t.doing.Store(&doing)
	defer e.kick() // what is here of the ranges was not looked at meanwhile
	defer t.doing.Store(nil)
	b := beginning{Ranges: p.ranges}
	st := e.cfg.Table.State()
	for _, r := range p.ranges {
		row, ok := st.Row(r.Start)
		if !ok || row.Range != r {
			return errChanged
		}
		b.Versions = append(b.Versions, row.Version)
	}
	b.Session, b.Frame = e.primaryFeed.newestFrame(t.to)
	text, err := json.Marshal(&b)
	if err != nil {
		return err
	}
	if err := t.stream.Begin(ctx, text); err != nil {
		return err
	}
	began := time.Now()
	c := &copying{e: e, t: t, h: h, p: p, offices: officesOf(st, p.ranges)}
	defer c.close()
	if err := c.all(ctx); err != nil {
		return err
	}
	e.totals.copying.Add(int64(time.Since(began)))
	if p.primary {
		err = e.cutOver(ctx, c)
	} else {
		err = e.admit(ctx, c)
	}
	if err != nil {
		return err
	}
	c.close()
	t.doing.Store(nil)
	e.gave(p.ranges)
	var load ring.Load // of what has not been left out since
	for _, r := range p.ranges {
		load = load.Add(t.loads[r])
	}
	t.handed = t.handed.Add(load)
	e.totals.ranges.Add(int64(len(p.ranges)))
	e.totals.keys.Add(load.Keys)
	e.totals.bytes.Add(load.Bytes)
	return nil
}

// learn makes the receiver a learner of all rows that it is to have a copy of, and
// returns those that it learns. What it has of them from an earlier try, digests tell.
// What is part of another handoff waits for that.
func (e *Engine) learn(ctx context.Context, t *transfer, h *table.Handoff) ([]*table.Row, error) {
	learning := func(row *table.Row) bool {
		i := slices.Index(row.Learners, h.To)
		return i >= 0 && row.Starts[i] == t.incarnation && row.Op.Handoff == h.ID
	}
	drop := &table.DropLearner{Node: h.To}
	for _, row := range e.copied(h) {
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
	for _, row := range e.copied(h) {
		if !slices.Contains(row.Learners, h.To) && row.Op.Handoff == 0 {
			add.Rows = append(add.Rows, row.Ref())
		}
	}
	if len(add.Rows) > 0 {
		if err := e.cfg.Table.Apply(ctx, add); err != nil {
			return nil, err
		}
	}
	learned := slices.DeleteFunc(e.copied(h), func(row *table.Row) bool { return !learning(row) })
	if len(learned) == 0 {
		return nil, errBusy
	}
	return learned, nil
}

// copied are the rows of which the receiver is still to get a copy.
func (e *Engine) copied(h *table.Handoff) []*table.Row {
	return append(e.rowsFor(h, moving), e.rowsFor(h, backing)...)
}

// finish removes a handoff that has nothing left to do.
func (e *Engine) finish(ctx context.Context, t *transfer, h *table.Handoff) error {
	now, ok := e.cfg.Table.State().Handoff(h.ID)
	if !ok {
		return e.gone(t, h)
	}
	err := e.cfg.Table.Apply(ctx, &table.SetPhase{Handoff: h.ID, From: now.Phase, To: table.Done})
	if table.IsRefused(err) {
		return e.gone(t, h)
	}
	if err == nil {
		e.totals.done.Add(1)
	}
	return err
}

// gone is what becomes of a try whose handoff the table has no more, or as another: a new
// plan may find first that nothing of it is left to do.
func (e *Engine) gone(t *transfer, h *table.Handoff) error {
	if _, ok := e.cfg.Table.State().Handoff(h.ID); ok {
		return errChanged
	}
	for row := range e.cfg.Table.State().Rows() {
		if taskOf(h, row) != nothing {
			return errChanged
		}
	}
	if t.moved {
		e.totals.done.Add(1)
	}
	return nil
}
