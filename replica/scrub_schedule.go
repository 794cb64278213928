package replica

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

const (
	// scrubGrid is how many tokens are compared in one go, at most: a 1024th of all. A node
	// that is started often comes by at least so much each time.
	scrubGrid = 1 << 22
	// scrubCatchUp is how many times as quick a round is that is late.
	scrubCatchUp = 4
	// scrubMinFraction is in what part of the interval a part is compared, at least.
	scrubMinFraction = 256
	// scrubRetryFraction is after what part of the interval a part comes again that could not be
	// compared.
	scrubRetryFraction = 8
	// scrubQueueEvery is how often it is looked, between two turns, what there is to compare.
	scrubQueueEvery = 10 * time.Second
	// saveProgressEvery is how long what was compared waits for more before it is
	// remembered in the table, and rememberTimeout bounds that.
	saveProgressEvery   = 15 * time.Second
	saveProgressTimeout = 5 * time.Second
	// maxPartsPerEntry is of how many parts one entry tells.
	maxPartsPerEntry = 1024
	// maxClockDrift is by how much a clock may be ahead of this node's. What was compared
	// later than that, by another one, is as if it never was.
	maxClockDrift = time.Minute
)

// A scrubSchedule says which part is compared when. Of all parts that this node serves the one comes
// first that was compared longest ago, by whomever; they come evenly, so that all have had
// their turn once in an interval.
type scrubSchedule struct {
	ordered bool // a round is ordered
	urgent  bool // it goes on, and takes no more time than it must
	// lastStart is when the last part had its turn, and each how long a part is to take.
	lastStart time.Time
	perPart   time.Duration
	// queue are the parts to come, in their order, as they are by a state, which was looked
	// at then; left are those of them that have not had their turn in this round.
	queue      []gridPart
	queueState *table.State
	queuedAt   time.Time
	remaining  int
	// unsaved is what was compared and is not in the table yet, the first of it at since.
	unsaved      table.Comparisons
	unsavedSince time.Time
	// triedAt is when this node looked at a part last, also in vain.
	triedAt map[ring.Range]time.Time
}

// A gridPart is a row, or as much of it as is compared in one go.
type gridPart struct {
	at       ring.Range
	lastTurn time.Time // when it had its turn; zero for never
}

// cutByGrid cuts a range where others are cut.
func cutByGrid(r ring.Range) (parts []ring.Range) {
	start := r.Start
	for left := r.Len(); left > 0; {
		step := min(scrubGrid-uint64(start)%scrubGrid, left)
		end := start + ring.Token(step)
		parts = append(parts, ring.Range{Start: start, End: end})
		start, left = end, left-step
	}
	return parts
}

// known is when which tokens were compared, by the table and by what is not there yet. The
// caller holds mu.
func (s *scrubSchedule) known(st *table.State) table.Comparisons {
	if fresh := s.unsaved.All(); len(fresh) > 0 {
		return st.Comparisons().With(fresh...)
	}
	return st.Comparisons()
}

// compared is when a part was, zero if never.
func compared(c table.Comparisons, at ring.Range, now time.Time) time.Time {
	seconds := c.Oldest(at)
	if seconds == 0 || time.Unix(seconds, 0).After(now.Add(maxClockDrift)) {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// buildQueue puts the parts of rows in the order of their turns.
func (s *scrub) buildQueue(st *table.State, rows []ring.Range, interval time.Duration, now time.Time) {
	known := s.known(st)
	s.queue, s.queueState, s.queuedAt = nil, st, now
	seen := make(map[ring.Range]time.Time)
	for _, row := range rows {
		for _, at := range cutByGrid(row) {
			p := gridPart{at: at}
			if !s.urgent {
				p.lastTurn = compared(known, at, now)
			}
			if tried, ok := s.triedAt[at]; ok && (!tried.Before(s.stats.Began) || !s.urgent && now.Sub(tried) < interval/scrubRetryFraction) {
				seen[at] = tried
				if tried.After(p.lastTurn) {
					p.lastTurn = tried
				}
			}
			s.queue = append(s.queue, p)
		}
	}
	s.triedAt = seen
	slices.SortStableFunc(s.queue, func(a, b gridPart) int { return a.lastTurn.Compare(b.lastTurn) })
	s.remaining, _ = slices.BinarySearchFunc(s.queue, s.stats.Began, func(p gridPart, began time.Time) int {
		return cmp.Or(p.lastTurn.Compare(began), 1) // behind all that were before it
	})
	f := &s.stats
	f.Total, f.Done = len(s.queue), len(s.queue)-s.remaining
	s.perPart = interval / time.Duration(max(len(s.queue), 1))
	if len(s.queue) > 0 {
		if last := s.queue[0].lastTurn; !last.IsZero() && now.Sub(last) > interval+interval/16 {
			s.perPart /= scrubCatchUp
		}
	}
}

// next is the part whose turn it is, or how long until it is looked again. rows are those
// that this node serves by a state.
func (s *scrub) next(st *table.State, rows func() []ring.Range, interval time.Duration, now time.Time) (p gridPart, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.stats
	switch {
	case s.ordered:
		s.ordered, s.urgent = false, true
		f.Began, s.queueState = now, nil
		clear(s.triedAt)
	case !s.urgent && interval <= 0:
		f.Running, s.queueState = false, nil
		return gridPart{}, scrubPollInterval
	case !s.urgent && f.Began.IsZero():
		// A node that is started again goes on with a round that it may have been in.
		f.Began = now.Truncate(interval)
	}
	early := !s.urgent && now.Before(s.lastStart.Add(s.perPart))
	if s.queueState == nil || !early && len(s.queue) == 0 || st != s.queueState && (!early || now.Sub(s.queuedAt) >= scrubQueueEvery) {
		s.buildQueue(st, rows(), interval, now)
		if s.remaining == 0 && len(s.queue) > 0 {
			s.endRound(now)
			return gridPart{}, 0
		}
	}
	due := s.lastStart.Add(s.perPart)
	if !s.urgent && now.Before(due) {
		return gridPart{}, due.Sub(now)
	}
	if f.Running = len(s.queue) > 0; !f.Running {
		return gridPart{}, scrubPollInterval
	}
	if s.lastStart = due; now.Sub(due) > s.perPart {
		s.lastStart = now
	}
	p = s.queue[0]
	s.queue = s.queue[1:]
	return p, 0
}

// endRound ends a round, after which the next one begins.
func (s *scrub) endRound(now time.Time) {
	f := &s.stats
	f.Rounds++
	f.Running, f.Done, f.Ended = false, f.Total, now
	if s.urgent {
		s.lastStart = now
	}
	s.urgent, s.queueState = false, nil
	f.Began = now.Add(1) // what has had its turn by now does not count
}

// partDone notes that a part has had its turn, and whether it was compared.
func (s *scrub) partDone(p gridPart, was bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.triedAt[p.at] = now
	if p.lastTurn.Before(s.stats.Began) {
		s.remaining--
		s.stats.Done++
		if s.remaining == 0 {
			s.queueState = nil // look whether that was all
		}
	}
	if !was {
		return
	}
	if s.unsavedSince.IsZero() {
		s.unsavedSince = now
	}
	s.unsaved = s.unsaved.With(table.Comparison{Range: p.at, At: now.Unix()})
}

// waitBeforePart is for how long a part has to wait so that it takes as long as it should, of which
// so much is done, from 0 to 1.
func (s *scrub) waitBeforePart(done float64, interval time.Duration, now time.Time) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ordered:
		return 0, errRoundAnew
	case s.urgent:
		return 0, nil
	case interval <= 0:
		return 0, errRoundOff
	}
	// Who has few parts by now may have many soon.
	takes := min(s.perPart, interval/scrubMinFraction)
	return max(0, s.lastStart.Add(time.Duration(done*float64(takes))).Sub(now)), nil
}

// saveProgress has the table tell what was compared. What cannot be told now is kept; if this
// node ends first, that little is compared again.
func (e *Engine) saveProgress(ctx context.Context) {
	s := &e.scrub
	s.mu.Lock()
	parts := s.unsaved.All()
	due := len(parts) > 0 && (len(parts) >= maxPartsPerEntry || e.resigning.Load() || time.Since(s.unsavedSince) >= saveProgressEvery)
	if due {
		s.unsavedSince = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return
	}
	within, cancel := context.WithTimeout(ctx, saveProgressTimeout)
	defer cancel()
	for some := range slices.Chunk(parts, maxPartsPerEntry) {
		if err := e.cfg.Table.Apply(within, &table.Compared{Parts: some}); err != nil {
			e.cfg.Logger.Debug("storing the progress of the comparison failed", "err", err)
			return
		}
	}
	s.mu.Lock()
	s.unsaved, s.unsavedSince = table.Comparisons{}, time.Time{}
	s.mu.Unlock()
}
