package scrub

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/locks"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Scrub compares the ranges of this node with its backups, part by part, in rounds.
type Scrub struct {
	cfg        Config
	startNow   chan struct{} // wakes CompareLoop for an ordered round
	digestSlot chan struct{} // held while answering a comparison of another node
	readSlot   chan struct{} // held while reading a range for another node

	mu sync.Mutex
	schedule
	stats         Stats
	repairs       []repair
	damagedRanges map[ring.Range]*damagedRange // ranges that this node cannot read
	// readable are ranges that share damaged files but could be read, and when.
	readable map[ring.Range]time.Time
}

// New returns a scrub, of which CompareLoop and RepairLoop must run.
func New(cfg Config) *Scrub {
	s := new(Scrub)
	s.init(cfg)
	return s
}

func (s *Scrub) init(cfg Config) {
	s.cfg = cfg
	s.startNow = make(chan struct{}, 1)
	s.digestSlot, s.readSlot = make(chan struct{}, 1), make(chan struct{}, 1)
	s.triedAt = make(map[ring.Range]time.Time)
	s.damagedRanges, s.readable = make(map[ring.Range]*damagedRange), make(map[ring.Range]time.Time)
}

// Reasons to end a round early.
var (
	errRoundAnew = errors.New("another round was ordered")
	errRoundOff  = errors.New("the check was turned off")
	errResigning = errors.New("the node is being stopped")
)

// idleInterval is the longest wait before the limits are looked at again.
const idleInterval = time.Second

// pollInterval is the longest wait before a limit on comparisons is looked at again.
const pollInterval = 50 * time.Millisecond

// StartRound starts a round at once. The round is limited only by the throttle and by client
// requests.
func (s *Scrub) StartRound() {
	s.mu.Lock()
	s.ordered = true
	s.mu.Unlock()
	s.Wake()
}

// Wake has CompareLoop look again at once, for a round or to save its progress.
func (s *Scrub) Wake() { locks.Signal(s.startNow) }

// CompareLoop runs part after part and round after round.
func (s *Scrub) CompareLoop(ctx context.Context) {
	if s.cfg.Ask == nil {
		return
	}
	for ctx.Err() == nil {
		s.saveProgress(ctx)
		wait := idleInterval
		if !s.cfg.Ranges.Resigning() {
			st := s.cfg.Table.State()
			var p gridPart
			if p, wait = s.next(st, func() []ring.Range { return s.ownRows(st) }, s.cfg.Interval(), time.Now()); p.at != (ring.Range{}) {
				_ = s.comparePart(ctx, p) // comparePart records why a part was not compared
				continue
			}
		}
		wake := time.NewTimer(min(wait, idleInterval))
		select {
		case <-s.startNow:
		case <-wake.C:
		case <-ctx.Done():
		}
		wake.Stop()
	}
}

// ownRows returns the ranges of the rows that this node serves.
func (s *Scrub) ownRows(st *table.State) (rows []ring.Range) {
	for row := range st.Rows() {
		if s.ownRow(row) {
			rows = append(rows, row.Range)
		}
	}
	return rows
}

// ownRow reports whether this node serves a row and all its members have joined it.
func (s *Scrub) ownRow(row *table.Row) bool {
	return row.Primary == s.cfg.Self && row.Incarnation == s.cfg.Incarnation && s.cfg.Feed.IsComplete(row)
}

// comparePart compares a part of a row with each backup. Without a backup it reads the part, so that
// damage does not stay unknown until there is one. An error ends the round.
func (s *Scrub) comparePart(ctx context.Context, p gridPart) error {
	st := s.cfg.Table.State()
	row, ok := st.Row(p.at.Start)
	if !ok || !s.ownRow(row) || row.Range.Len()-uint64(p.at.Start-row.Range.Start) < p.at.Len() {
		s.partDone(p, false, time.Now())
		return nil
	}
	if len(row.Backups) == 0 {
		if err := s.waitForPermit(ctx, 0); err != nil {
			return err
		}
		err := s.cfg.Store.Check(ctx, p.at, s.readPace(ctx))
		s.noteCompared(ctx, row, "", err)
		s.partDone(p, err == nil, time.Now())
		return ctx.Err()
	}
	all := true
	for i, node := range row.Backups {
		c := &comparison{s: s, row: row, at: p.at, node: node, doneBefore: float64(i) / float64(len(row.Backups)), share: 1 / float64(len(row.Backups))}
		err := c.run(ctx)
		if errors.Is(err, errRoundAnew) || errors.Is(err, errRoundOff) || errors.Is(err, errResigning) || ctx.Err() != nil {
			return err
		}
		s.noteCompared(ctx, row, node, err)
		all = all && err == nil
	}
	now, ok := s.cfg.Table.State().Row(p.at.Start)
	all = all && ok && now.Epoch == row.Epoch && now.Lineage == row.Lineage && now.Primary == s.cfg.Self
	s.partDone(p, all, time.Now())
	return nil
}

// noteCompared records that a row was compared, or why it was not.
func (s *Scrub) noteCompared(ctx context.Context, row *table.Row, node string, err error) {
	s.mu.Lock()
	if err == nil {
		s.stats.Compared++
	} else if ctx.Err() == nil {
		s.stats.Skipped++
	}
	s.mu.Unlock()
	if err != nil && ctx.Err() == nil {
		s.cfg.Logger.Info("comparing a range with its backup failed", "node", node, "range", row.Range, "epoch", row.Epoch, "err", err)
	}
}

// waitForPermit waits until the round may continue. part is the done fraction of the present
// part, from 0 to 1.
func (s *Scrub) waitForPermit(ctx context.Context, part float64) error {
	for {
		s.saveProgress(ctx)
		if s.cfg.Ranges.Resigning() {
			return errResigning
		}
		early, err := s.waitBeforePart(part, s.cfg.Interval(), time.Now())
		if err != nil {
			return err
		}
		moves := s.cfg.Table.State().Cluster().Moves
		wait := max(early, s.cfg.Pacer.Wait(moves.Throttle))
		if moves.Paused {
			wait = max(wait, pollInterval)
		}
		if wait == 0 {
			return ctx.Err()
		}
		wake := time.NewTimer(min(wait, idleInterval))
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
func (s *Scrub) readPace(ctx context.Context) func(bytes int) {
	began := time.Now()
	return func(bytes int) {
		worked := time.Since(began)
		s.cfg.Pacer.Spend(int64(bytes))
		for ctx.Err() == nil {
			moves := s.cfg.Table.State().Cluster().Moves
			wait := s.cfg.Pacer.Wait(moves.Throttle)
			if wait == 0 {
				break
			}
			locks.Pause(ctx, min(wait, pollInterval))
		}
		s.cfg.Pacer.RestForClients(ctx, worked)
		began = time.Now()
	}
}
