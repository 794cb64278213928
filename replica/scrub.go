package replica

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// scrub compares what this node serves with what its backups have of it, range by range,
// in rounds.
type scrub struct {
	kicked  chan struct{} // a round is wanted at once
	looking chan struct{} // held by who answers another node's comparison
	reading chan struct{} // held by who reads a range for another node

	mu      sync.Mutex
	figures ScrubFigures
	anew    bool // the round is to begin anew, and to take no more time than it must
	hurried bool // it does not
	repairs []repair
	states  map[ring.Range]*mending // of ranges that cannot be read
	// readable are those that could, although there is damage in their tables, and when.
	readable map[ring.Range]time.Time
}

func (s *scrub) init() {
	s.kicked = make(chan struct{}, 1)
	s.looking, s.reading = make(chan struct{}, 1), make(chan struct{}, 1)
	s.states, s.readable = make(map[ring.Range]*mending), make(map[ring.Range]time.Time)
}

// Why a round ends early.
var (
	errRoundAnew = errors.New("another round was ordered")
	errRoundOff  = errors.New("the check was turned off")
)

// scrubLook is how long at most until it is looked again at what the check may.
const scrubLook = time.Second

// ScrubNow has this node begin a round at once, which takes no more time than the bound on
// the moving of data and the clients leave it.
func (e *Engine) ScrubNow() {
	e.scrub.mu.Lock()
	e.scrub.anew = true
	e.scrub.mu.Unlock()
	signal(e.scrub.kicked)
}

// scrubs goes on from round to round.
func (e *Engine) scrubs(ctx context.Context) {
	if e.lease.cfg.Ask == nil {
		return
	}
	for ctx.Err() == nil {
		wait := scrubLook
		if !e.resigning.Load() {
			wait = e.scrub.due(e.cfg.Scrub(), time.Now())
		}
		if wait == 0 {
			if err := e.round(ctx); err == nil {
				continue
			}
			wait = scrubLook
		}
		wake := time.NewTimer(min(wait, scrubLook))
		select {
		case <-e.scrub.kicked:
		case <-wake.C:
		case <-ctx.Done():
		}
		wake.Stop()
	}
}

// round compares all that this node serves, from anywhere on: a node that is started often
// comes by everything nevertheless.
func (e *Engine) round(ctx context.Context) error {
	s := &e.scrub
	rows := 0
	var starts []ring.Token
	for row := range e.cfg.Table.State().Rows() {
		if e.ownRow(row) {
			rows++
			starts = append(starts, row.Range.Start)
		}
	}
	if rows == 0 {
		return errChanged
	}
	s.begin(rows, time.Now())
	at := starts[rand.IntN(rows)]
	st := e.cfg.Table.State()
	for passed := uint64(0); passed < 1<<32; {
		if now := e.cfg.Table.State(); now != st {
			st = now
			s.left(e.rowsFrom(st, at, 1<<32-passed))
		}
		row, ok := st.Row(at)
		if !ok {
			return s.end(errChanged)
		}
		if e.ownRow(row) {
			if err := e.scrubRow(ctx, row); err != nil {
				return s.end(err)
			}
			s.passed()
		}
		step := row.Range.Len() - uint64(at-row.Range.Start)
		at, passed = at+ring.Token(step), passed+step
	}
	return s.end(nil)
}

// rowsFrom counts the rows that this node serves among so many tokens from one on.
func (e *Engine) rowsFrom(st *table.State, at ring.Token, tokens uint64) (rows int) {
	for passed := uint64(0); passed < tokens; {
		row, ok := st.Row(at)
		if !ok {
			break
		}
		if row.Primary == e.cfg.Self {
			rows++
		}
		step := row.Range.Len() - uint64(at-row.Range.Start)
		at, passed = at+ring.Token(step), passed+step
	}
	return rows
}

// ownRow tells whether this node serves a row, and all that are in its set follow it.
func (e *Engine) ownRow(row *table.Row) bool {
	if row.Primary != e.cfg.Self || row.Incarnation != e.cfg.Incarnation {
		return false
	}
	f := &e.feeds
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.office.tenureAt(row.Range.Start)
	return f.office.serves(row) && len(t.missing) == 0
}

// scrubRow compares one row with each of its backups. Without any it is read, so that
// damage does not stay unknown until there is one. It returns an error if the round is
// not to go on.
func (e *Engine) scrubRow(ctx context.Context, row *table.Row) error {
	if len(row.Backups) == 0 {
		if err := e.permitScrub(ctx, 0); err != nil {
			return err
		}
		err := e.cfg.Store.Check(ctx, row.Range, e.readPace(ctx))
		e.scrubbed(ctx, row, "", err)
		return ctx.Err()
	}
	for i, node := range row.Backups {
		c := &comparison{e: e, row: row, node: node, before: float64(i) / float64(len(row.Backups)), part: 1 / float64(len(row.Backups))}
		err := c.run(ctx)
		if errors.Is(err, errRoundAnew) || errors.Is(err, errRoundOff) || errors.Is(err, errResigning) || ctx.Err() != nil {
			return err
		}
		e.scrubbed(ctx, row, node, err)
	}
	return nil
}

// scrubbed notes that a row was compared, or why not.
func (e *Engine) scrubbed(ctx context.Context, row *table.Row, node string, err error) {
	s := &e.scrub
	s.mu.Lock()
	if err == nil {
		s.figures.Compared++
	} else if ctx.Err() == nil {
		s.figures.Skipped++
	}
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		e.cfg.Logger.Info("a range could not be checked", "node", node, "range", row.Range, "epoch", row.Epoch, "err", err)
	}
}

// permitScrub waits until a round may go on that has come so far in a row, from 0 to 1.
func (e *Engine) permitScrub(ctx context.Context, part float64) error {
	for {
		if e.resigning.Load() {
			return errResigning
		}
		early, err := e.scrub.early(part, e.cfg.Scrub(), time.Now())
		if err != nil {
			return err
		}
		moves := e.cfg.Table.State().Cluster().Moves
		wait := max(early, e.bucket.wait(moves.Throttle))
		if moves.Paused {
			wait = max(wait, slice)
		}
		if wait == 0 {
			return ctx.Err()
		}
		wake := time.NewTimer(min(wait, scrubLook))
		select {
		case <-e.scrub.kicked:
		case <-wake.C:
		case <-ctx.Done():
		}
		wake.Stop()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// readPace keeps the reading of a range within the bound on the moving of data, and out of
// the way of clients.
func (e *Engine) readPace(ctx context.Context) func(bytes int) {
	began := time.Now()
	return func(bytes int) {
		worked := time.Since(began)
		e.bucket.take(int64(bytes))
		for ctx.Err() == nil {
			moves := e.cfg.Table.State().Cluster().Moves
			wait := e.bucket.wait(moves.Throttle)
			if wait == 0 {
				break
			}
			pause(ctx, min(wait, slice))
		}
		e.rest(ctx, worked)
		began = time.Now()
	}
}
