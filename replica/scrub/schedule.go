package scrub

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

const (
	// gridSize is the largest part, in tokens: 1/1024 of all. A node that restarts often completes
	// at least one part each time.
	gridSize = 1 << 22
	// catchUp is how many times faster a late round runs.
	catchUp = 4
	// minFraction: a part takes at most 1/minFraction of the interval.
	minFraction = 256
	// retryFraction: a failed part is tried again after 1/retryFraction of the interval.
	retryFraction = 8
	// queueEvery is the interval at which the queue is rebuilt between two parts.
	queueEvery = 10 * time.Second
	// saveProgressEvery is how long progress is collected before it is saved in the table;
	// saveProgressTimeout bounds the saving.
	saveProgressEvery   = 15 * time.Second
	saveProgressTimeout = 5 * time.Second
	// maxPartsPerEntry is the number of parts in one entry.
	maxPartsPerEntry = 1024
	// maxClockDrift is how far another node's clock may be ahead. A comparison at a later time
	// counts as none.
	maxClockDrift = time.Minute
)

// A schedule decides which part is compared when. The part with the oldest last comparison, on
// whichever node, comes first. Parts are spread evenly, so that each has its turn once in an
// interval.
type schedule struct {
	ordered bool // a round was ordered
	urgent  bool // the round runs as fast as it may
	// lastStart is when the last part began, perPart the time for each part.
	lastStart time.Time
	perPart   time.Duration
	// queue are the parts to come, as of queueState, which was read at queuedAt; remaining of them
	// have not had their turn in this round.
	queue      []gridPart
	queueState *table.State
	queuedAt   time.Time
	remaining  int
	// unsaved are comparisons that the table does not have yet, the first of them made at
	// unsavedSince.
	unsaved      table.Comparisons
	unsavedSince time.Time
	// triedAt is when this node last tried a part, successfully or not.
	triedAt map[ring.Range]time.Time
}

// A gridPart is a row, or the part of it that is compared in one go.
type gridPart struct {
	at       ring.Range
	lastTurn time.Time // of the part; zero for never
}

// cutByGrid cuts a range at the multiples of gridSize.
func cutByGrid(r ring.Range) (parts []ring.Range) {
	start := r.Start
	for left := r.Len(); left > 0; {
		step := min(gridSize-uint64(start)%gridSize, left)
		end := start + ring.Token(step)
		parts = append(parts, ring.Range{Start: start, End: end})
		start, left = end, left-step
	}
	return parts
}

// known returns the comparisons of the table and the unsaved ones. The caller holds mu.
func (s *schedule) known(st *table.State) table.Comparisons {
	if fresh := s.unsaved.All(); len(fresh) > 0 {
		return st.Comparisons().With(fresh...)
	}
	return st.Comparisons()
}

// compared returns when a part was compared; zero if never.
func compared(c table.Comparisons, at ring.Range, now time.Time) time.Time {
	seconds := c.Oldest(at)
	if seconds == 0 || time.Unix(seconds, 0).After(now.Add(maxClockDrift)) {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// buildQueue sorts the parts of rows by their last turn.
func (s *Scrub) buildQueue(st *table.State, rows []ring.Range, interval time.Duration, now time.Time) {
	known := s.known(st)
	s.queue, s.queueState, s.queuedAt = nil, st, now
	seen := make(map[ring.Range]time.Time)
	for _, row := range rows {
		for _, at := range cutByGrid(row) {
			p := gridPart{at: at}
			if !s.urgent {
				p.lastTurn = compared(known, at, now)
			}
			if tried, ok := s.triedAt[at]; ok && (!tried.Before(s.stats.Began) || !s.urgent && now.Sub(tried) < interval/retryFraction) {
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
		return cmp.Or(p.lastTurn.Compare(began), 1) // behind all equal ones
	})
	f := &s.stats
	f.Total, f.Done = len(s.queue), len(s.queue)-s.remaining
	s.perPart = interval / time.Duration(max(len(s.queue), 1))
	if len(s.queue) > 0 {
		if last := s.queue[0].lastTurn; !last.IsZero() && now.Sub(last) > interval+interval/16 {
			s.perPart /= catchUp
		}
	}
}

// next returns the part whose turn it is, or the time until the next look. rows returns the rows
// that this node serves.
func (s *Scrub) next(st *table.State, rows func() []ring.Range, interval time.Duration, now time.Time) (p gridPart, wait time.Duration) {
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
		return gridPart{}, idleInterval
	case !s.urgent && f.Began.IsZero():
		// A restarted node continues a round that it may have been in.
		f.Began = now.Truncate(interval)
	}
	early := !s.urgent && now.Before(s.lastStart.Add(s.perPart))
	if s.queueState == nil || !early && len(s.queue) == 0 || st != s.queueState && (!early || now.Sub(s.queuedAt) >= queueEvery) {
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
		return gridPart{}, idleInterval
	}
	if s.lastStart = due; now.Sub(due) > s.perPart {
		s.lastStart = now
	}
	p = s.queue[0]
	s.queue = s.queue[1:]
	return p, 0
}

// endRound ends a round. The next one begins.
func (s *Scrub) endRound(now time.Time) {
	f := &s.stats
	f.Rounds++
	f.Running, f.Done, f.Ended = false, f.Total, now
	if s.urgent {
		s.lastStart = now
	}
	s.urgent, s.queueState = false, nil
	f.Began = now.Add(1) // what was done until now belongs to the last round
}

// partDone records that a part had its turn, and whether it was compared.
func (s *Scrub) partDone(p gridPart, was bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.triedAt[p.at] = now
	if p.lastTurn.Before(s.stats.Began) {
		s.remaining--
		s.stats.Done++
		if s.remaining == 0 {
			s.queueState = nil // look whether the round is complete
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

// waitBeforePart returns how long a part has to wait to take its planned time, given its done
// fraction from 0 to 1.
func (s *Scrub) waitBeforePart(done float64, interval time.Duration, now time.Time) (time.Duration, error) {
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
	// A node with few parts now may have many soon.
	takes := min(s.perPart, interval/minFraction)
	return max(0, s.lastStart.Add(time.Duration(done*float64(takes))).Sub(now)), nil
}

// saveProgress saves comparisons in the table. What cannot be saved now is kept; if this node stops
// first, it is compared again.
func (s *Scrub) saveProgress(ctx context.Context) {
	s.mu.Lock()
	parts := s.unsaved.All()
	due := len(parts) > 0 && (len(parts) >= maxPartsPerEntry || s.cfg.Ranges.Resigning() || time.Since(s.unsavedSince) >= saveProgressEvery)
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
		if err := s.cfg.Table.Apply(within, &table.Compared{Parts: some}); err != nil {
			s.cfg.Logger.Debug("storing the progress of the comparison failed", "err", err)
			return
		}
	}
	s.mu.Lock()
	s.unsaved, s.unsavedSince = table.Comparisons{}, time.Time{}
	s.mu.Unlock()
}
