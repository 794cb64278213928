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
	e          *Engine
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

func (s *scrub) init(e *Engine) {
	s.e = e
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
func (s *scrub) ScrubNow() {
	s.mu.Lock()
	s.ordered = true
	s.mu.Unlock()
	locks.Signal(s.startNow)
}

// scrubLoop runs part after part and round after round.
func (s *scrub) scrubLoop(ctx context.Context) {
	if s.e.lease.Cfg.Ask == nil {
		return
	}
	for ctx.Err() == nil {
		s.saveProgress(ctx)
		wait := scrubPollInterval
		if !s.e.resigning.Load() {
			st := s.e.cfg.Table.State()
			var p gridPart
			if p, wait = s.next(st, func() []ring.Range { return s.ownRows(st) }, s.e.cfg.Scrub(), time.Now()); p.at != (ring.Range{}) {
				_ = s.scrubPart(ctx, p) // scrubPart records why a part was not compared
				continue
			}
		}
		wake := time.NewTimer(min(wait, scrubPollInterval))
		select {
		case <-s.startNow:
		case <-wake.C:
		case <-ctx.Done():
		}
		wake.Stop()
	}
}

// ownRows returns the ranges of the rows that this node serves.
func (s *scrub) ownRows(st *table.State) (rows []ring.Range) {
	for row := range st.Rows() {
		if s.ownRow(row) {
			rows = append(rows, row.Range)
		}
	}
	return rows
}

// ownRow reports whether this node serves a row and all its members have joined it.
func (s *scrub) ownRow(row *table.Row) bool {
	return row.Primary == s.e.cfg.Self && row.Incarnation == s.e.cfg.Incarnation && s.e.feed.IsComplete(row)
}

// scrubPart compares a part of a row with each backup. Without a backup it reads the part, so that
// damage does not stay unknown until there is one. An error ends the round.
func (s *scrub) scrubPart(ctx context.Context, p gridPart) error {
	st := s.e.cfg.Table.State()
	row, ok := st.Row(p.at.Start)
	if !ok || !s.ownRow(row) || row.Range.Len()-uint64(p.at.Start-row.Range.Start) < p.at.Len() {
		s.partDone(p, false, time.Now())
		return nil
	}
	if len(row.Backups) == 0 {
		if err := s.waitForScrubPermit(ctx, 0); err != nil {
			return err
		}
		err := s.e.cfg.Store.Check(ctx, p.at, s.readPace(ctx))
		s.noteScrubbed(ctx, row, "", err)
		s.partDone(p, err == nil, time.Now())
		return ctx.Err()
	}
	all := true
	for i, node := range row.Backups {
		c := &comparison{e: s.e, row: row, at: p.at, node: node, doneBefore: float64(i) / float64(len(row.Backups)), share: 1 / float64(len(row.Backups))}
		err := c.run(ctx)
		if errors.Is(err, errRoundAnew) || errors.Is(err, errRoundOff) || errors.Is(err, errResigning) || ctx.Err() != nil {
			return err
		}
		s.noteScrubbed(ctx, row, node, err)
		all = all && err == nil
	}
	now, ok := s.e.cfg.Table.State().Row(p.at.Start)
	all = all && ok && now.Epoch == row.Epoch && now.Lineage == row.Lineage && now.Primary == s.e.cfg.Self
	s.partDone(p, all, time.Now())
	return nil
}

// noteScrubbed records that a row was compared, or why it was not.
func (s *scrub) noteScrubbed(ctx context.Context, row *table.Row, node string, err error) {
	s.mu.Lock()
	if err == nil {
		s.stats.Compared++
	} else if ctx.Err() == nil {
		s.stats.Skipped++
	}
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		s.e.cfg.Logger.Info("comparing a range with its backup failed", "node", node, "range", row.Range, "epoch", row.Epoch, "err", err)
	}
}

// waitForScrubPermit waits until the round may continue. part is the done fraction of the present
// part, from 0 to 1.
func (s *scrub) waitForScrubPermit(ctx context.Context, part float64) error {
	for {
		s.saveProgress(ctx)
		if s.e.resigning.Load() {
			return errResigning
		}
		early, err := s.waitBeforePart(part, s.e.cfg.Scrub(), time.Now())
		if err != nil {
			return err
		}
		moves := s.e.cfg.Table.State().Cluster().Moves
		wait := max(early, s.e.limiter.wait(moves.Throttle))
		if moves.Paused {
			wait = max(wait, pollInterval)
		}
		if wait == 0 {
			return ctx.Err()
		}
		wake := time.NewTimer(min(wait, scrubPollInterval))
		select {
		case <-s.startNow:
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
func (s *scrub) readPace(ctx context.Context) func(bytes int) {
	began := time.Now()
	return func(bytes int) {
		worked := time.Since(began)
		s.e.limiter.spend(int64(bytes))
		for ctx.Err() == nil {
			moves := s.e.cfg.Table.State().Cluster().Moves
			wait := s.e.limiter.wait(moves.Throttle)
			if wait == 0 {
				break
			}
			locks.Pause(ctx, min(wait, pollInterval))
		}
		s.e.restForClients(ctx, worked)
		began = time.Now()
	}
}
