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

// scrub compares the ranges of this node with its backups, part by part, in rounds.
type scrub struct {
	startNow   chan struct{} // wakes scrubLoop for an ordered round
	digestSlot chan struct{} // held while answering a comparison of another node
	readSlot   chan struct{} // held while reading a range for another node

	mu sync.Mutex
	scrubSchedule
	stats         ScrubStats
	repairs       []repair
	damagedRanges map[ring.Range]*damagedRange // ranges that this node cannot read
	// readable are ranges that share damaged files but could be read, and when.
	readable map[ring.Range]time.Time
}

func (s *scrub) init() {
	s.startNow = make(chan struct{}, 1)
	s.digestSlot, s.readSlot = make(chan struct{}, 1), make(chan struct{}, 1)
	s.triedAt = make(map[ring.Range]time.Time)
	s.damagedRanges, s.readable = make(map[ring.Range]*damagedRange), make(map[ring.Range]time.Time)
}

// Reasons to end a round early.
var (
	errRoundAnew = errors.New("another round was ordered")
	errRoundOff  = errors.New("the check was turned off")
)

// scrubPollInterval is the longest wait before the limits are looked at again.
const scrubPollInterval = time.Second

// ScrubNow starts a round at once. The round is limited only by the throttle and by client
// requests.
func (e *Engine) ScrubNow() {
	e.scrub.mu.Lock()
	e.scrub.ordered = true
	e.scrub.mu.Unlock()
	locks.Signal(e.scrub.startNow)
}

// scrubLoop runs part after part and round after round.
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
				_ = e.scrubPart(ctx, p) // scrubPart records why a part was not compared
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

// ownRows returns the ranges of the rows that this node serves.
func (e *Engine) ownRows(st *table.State) (rows []ring.Range) {
	for row := range st.Rows() {
		if e.ownRow(row) {
			rows = append(rows, row.Range)
		}
	}
	return rows
}

// ownRow reports whether this node serves a row and all its members have joined it.
func (e *Engine) ownRow(row *table.Row) bool {
	return row.Primary == e.cfg.Self && row.Incarnation == e.cfg.Incarnation && e.feed.IsComplete(row)
}

// scrubPart compares a part of a row with each backup. Without a backup it reads the part, so that
// damage does not stay unknown until there is one. An error ends the round.
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

// noteScrubbed records that a row was compared, or why it was not.
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

// waitForScrubPermit waits until the round may continue. part is the done fraction of the present
// part, from 0 to 1.
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

// readPace returns a callback that keeps the reading of a range within the throttle and out of the
// way of clients.
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
