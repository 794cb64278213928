package replica

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// scrub compares what this node serves with what its backups have of it, part by part, in
// rounds.
type scrub struct {
	startNow   chan struct{} // a round is wanted at once
	digestSlot chan struct{} // held by who answers another node's comparison
	readSlot   chan struct{} // held by who reads a range for another node

	mu sync.Mutex
	scrubSchedule
	stats         ScrubStats
	repairs       []repair
	damagedRanges map[ring.Range]*damagedRange // of ranges that cannot be read
	// readable are those that could, although there is damage in their tables, and when.
	readable map[ring.Range]time.Time
}

func (s *scrub) init() {
	s.startNow = make(chan struct{}, 1)
	s.digestSlot, s.readSlot = make(chan struct{}, 1), make(chan struct{}, 1)
	s.triedAt = make(map[ring.Range]time.Time)
	s.damagedRanges, s.readable = make(map[ring.Range]*damagedRange), make(map[ring.Range]time.Time)
}

// Why a round ends early.
var (
	errRoundAnew = errors.New("another round was ordered")
	errRoundOff  = errors.New("the check was turned off")
)

// scrubPollInterval is how long at most until it is looked again at what the check may.
const scrubPollInterval = time.Second

// ScrubNow has this node begin a round at once, which takes no more time than the bound on
// the moving of data and the clients leave it.
func (e *Engine) ScrubNow() {
	e.scrub.mu.Lock()
	e.scrub.ordered = true
	e.scrub.mu.Unlock()
	locks.Signal(e.scrub.startNow)
}

// scrubLoop goes on from part to part and from round to round.
func (e *Engine) scrubLoop(ctx context.Context) {
	if e.lease.Cfg.Ask == nil {
		return
	}
	for ctx.Err() == nil {
		e.saveProgress(ctx)
		wait := scrubPollInterval
		if !e.resigning.Load() {
			st := e.cfg.Table.State()
			var p gridPart
			if p, wait = e.scrub.next(st, func() []ring.Range { return e.ownRows(st) }, e.cfg.Scrub(), time.Now()); p.at != (ring.Range{}) {
				_ = e.scrubPart(ctx, p) // why it was not compared is noted there
				continue
			}
		}
		wake := time.NewTimer(min(wait, scrubPollInterval))
		select {
		case <-e.scrub.startNow:
		case <-wake.C:
		case <-ctx.Done():
		}
		wake.Stop()
	}
}

// ownRows are the bounds of the rows that this node serves by a state.
func (e *Engine) ownRows(st *table.State) (rows []ring.Range) {
	for row := range st.Rows() {
		if e.ownRow(row) {
			rows = append(rows, row.Range)
		}
	}
	return rows
}

// ownRow tells whether this node serves a row, and all that are in its set follow it.
func (e *Engine) ownRow(row *table.Row) bool {
	return row.Primary == e.cfg.Self && row.Incarnation == e.cfg.Incarnation && e.feed.IsComplete(row)
}

// scrubPart compares a part of a row with each backup. Without any it is read, so that
// damage does not stay unknown until there is one. It returns an error if the round is
// not to go on.
func (e *Engine) scrubPart(ctx context.Context, p gridPart) error {
	st := e.cfg.Table.State()
	row, ok := st.Row(p.at.Start)
	if !ok || !e.ownRow(row) || row.Range.Len()-uint64(p.at.Start-row.Range.Start) < p.at.Len() {
		e.scrub.partDone(p, false, time.Now())
		return nil
	}
	if len(row.Backups) == 0 {
		if err := e.waitForScrubPermit(ctx, 0); err != nil {
			return err
		}
		err := e.cfg.Store.Check(ctx, p.at, e.readPace(ctx))
		e.noteScrubbed(ctx, row, "", err)
		e.scrub.partDone(p, err == nil, time.Now())
		return ctx.Err()
	}
	all := true
	for i, node := range row.Backups {
		c := &comparison{e: e, row: row, at: p.at, node: node, doneBefore: float64(i) / float64(len(row.Backups)), share: 1 / float64(len(row.Backups))}
		err := c.run(ctx)
		if errors.Is(err, errRoundAnew) || errors.Is(err, errRoundOff) || errors.Is(err, errResigning) || ctx.Err() != nil {
			return err
		}
		e.noteScrubbed(ctx, row, node, err)
		all = all && err == nil
	}
	now, ok := e.cfg.Table.State().Row(p.at.Start)
	all = all && ok && now.Epoch == row.Epoch && now.Lineage == row.Lineage && now.Primary == e.cfg.Self
	e.scrub.partDone(p, all, time.Now())
	return nil
}

// noteScrubbed notes that a row was compared, or why not.
func (e *Engine) noteScrubbed(ctx context.Context, row *table.Row, node string, err error) {
	s := &e.scrub
	s.mu.Lock()
	if err == nil {
		s.stats.Compared++
	} else if ctx.Err() == nil {
		s.stats.Skipped++
	}
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		e.cfg.Logger.Info("comparing a range with its backup failed", "node", node, "range", row.Range, "epoch", row.Epoch, "err", err)
	}
}

// waitForScrubPermit waits until a round may go on that has come so far in a part, from 0 to 1.
func (e *Engine) waitForScrubPermit(ctx context.Context, part float64) error {
	for {
		e.saveProgress(ctx)
		if e.resigning.Load() {
			return errResigning
		}
		early, err := e.scrub.waitBeforePart(part, e.cfg.Scrub(), time.Now())
		if err != nil {
			return err
		}
		moves := e.cfg.Table.State().Cluster().Moves
		wait := max(early, e.limiter.wait(moves.Throttle))
		if moves.Paused {
			wait = max(wait, pollInterval)
		}
		if wait == 0 {
			return ctx.Err()
		}
		wake := time.NewTimer(min(wait, scrubPollInterval))
		select {
		case <-e.scrub.startNow:
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
		e.limiter.spend(int64(bytes))
		for ctx.Err() == nil {
			moves := e.cfg.Table.State().Cluster().Moves
			wait := e.limiter.wait(moves.Throttle)
			if wait == 0 {
				break
			}
			locks.Pause(ctx, min(wait, pollInterval))
		}
		e.restForClients(ctx, worked)
		began = time.Now()
	}
}
