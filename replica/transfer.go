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

	started time.Time
	stream  *Stream
	loads   map[ring.Range]ring.Load // of the ranges, when they were looked at first
	moved   bool                     // something has changed hands in this try
	handed  ring.Load                // what has, in all tries

	waits  reason
	doing  atomic.Pointer[ranges] // what is copied
	keys   figure                 // done and in all
	bytes  figure
	recent speed
}

type ranges []ring.Range

// A portion is those ranges of a handoff that are copied, and change hands, together.
type portion struct {
	ranges []ring.Range
	load   ring.Load
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
}

// errChanged says that the table does not want any more what it wanted when a try began.
var errChanged = errors.New("the plan has changed")

// handOff takes one handoff from its phase to its end, portion by portion. The point of
// no return of each is the entry that cuts over: whatever fails before leaves the ranges
// here, and whatever fails after finds them there. Nothing is guessed about it: the state
// says which.
func (e *Engine) handOff(ctx context.Context, t *transfer) error {
	h, ok := e.cfg.Table.State().Handoff(t.id)
	if !ok {
		return nil
	}
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
	if err := e.open(ctx, t, h, to.Incarnation); err != nil {
		return err
	}
	defer t.stream.Close()
	if err := e.learn(ctx, h, to.Incarnation); err != nil {
		return err
	}
	t.look(e.cfg.Store, rows)
	for {
		if _, ok := e.cfg.Table.State().Handoff(t.id); !ok {
			return errChanged
		}
		p := t.portion(e.rowsOf(h))
		if len(p.ranges) == 0 {
			return e.finish(ctx, h)
		}
		if err := e.handOver(ctx, t, h, p, to.Incarnation); err != nil {
			return err
		}
		t.moved = true
	}
}

// open opens the stream, which takes until the receiver has nothing else to do.
func (e *Engine) open(ctx context.Context, t *transfer, h *table.Handoff, incarnation uint64) error {
	text, err := json.Marshal(purpose{Handoff: h.ID, From: e.cfg.Self, Incarnation: incarnation})
	if err != nil {
		return err
	}
	conn, err := e.cfg.Dial(ctx, h.To)
	if err != nil {
		return err
	}
	t.stream = NewStream(conn, text)
	if err := t.stream.Ready(ctx); err != nil {
		t.stream.Close()
		return err
	}
	return nil
}

// look notes what lies in the ranges, for portions and progress.
func (t *transfer) look(s Store, rows []*table.Row) {
	t.loads = make(map[ring.Range]ring.Load, len(rows))
	var all ring.Load
	for _, row := range rows {
		load := s.Load(row.Range)
		t.loads[row.Range] = load
		all = all.Add(load)
	}
	t.keys.set(t.handed.Keys, t.handed.Keys+all.Keys)
	t.bytes.set(t.handed.Bytes, t.handed.Bytes+all.Bytes)
}

// portion is the next of the rows that are left.
func (t *transfer) portion(rows []*table.Row) *portion {
	enough := max(portionBytes, t.bytes.total.Load()/portions)
	p := new(portion)
	for _, row := range rows {
		load := t.loads[row.Range]
		if len(p.ranges) > 0 && p.load.Bytes+load.Bytes > enough {
			break
		}
		p.ranges = append(p.ranges, row.Range)
		p.load = p.load.Add(load)
	}
	return p
}

// handOver copies a portion and makes the receiver its primary.
func (e *Engine) handOver(ctx context.Context, t *transfer, h *table.Handoff, p *portion, incarnation uint64) error {
	doing := ranges(p.ranges)
	t.doing.Store(&doing)
	defer t.doing.Store(nil)
	text, err := json.Marshal(p.ranges)
	if err != nil {
		return err
	}
	if err := t.stream.Begin(ctx, text); err != nil {
		return err
	}
	began := time.Now()
	c := &copying{e: e, t: t, h: h, p: p}
	defer c.close()
	if err := c.all(ctx); err != nil {
		return err
	}
	e.totals.copying.Add(int64(time.Since(began)))
	if err := e.cutOver(ctx, c, incarnation); err != nil {
		return err
	}
	c.close()
	t.doing.Store(nil)
	e.kick()
	t.handed = t.handed.Add(p.load)
	e.totals.ranges.Add(int64(len(p.ranges)))
	e.totals.keys.Add(p.load.Keys)
	e.totals.bytes.Add(p.load.Bytes)
	return nil
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

// sortedFrom orders tokens by their distance from one, without doubles.
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

// learn makes the receiver a learner of all rows that it does not learn yet. What it has
// of them from an earlier try, digests tell.
func (e *Engine) learn(ctx context.Context, h *table.Handoff, incarnation uint64) error {
	drop := &table.DropLearner{Node: h.To}
	for _, row := range e.rowsOf(h) {
		if i := slices.Index(row.Learners, h.To); i >= 0 && (row.Starts[i] != incarnation || row.Op.Handoff != h.ID) {
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
		if !slices.Contains(row.Learners, h.To) {
			add.Rows = append(add.Rows, row.Ref())
		}
	}
	if len(add.Rows) == 0 {
		return nil
	}
	return e.cfg.Table.Apply(ctx, add)
}

// finish removes a handoff that has nothing left to do.
func (e *Engine) finish(ctx context.Context, h *table.Handoff) error {
	now, ok := e.cfg.Table.State().Handoff(h.ID)
	if !ok {
		return nil
	}
	err := e.cfg.Table.Apply(ctx, &table.SetPhase{Handoff: h.ID, From: now.Phase, To: table.Done})
	if err == nil {
		e.totals.done.Add(1)
	}
	if table.IsRefused(err) {
		return nil
	}
	return err
}
