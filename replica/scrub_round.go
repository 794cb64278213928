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
	// scrubHurry is how many times as quick a round is that is late.
	scrubHurry = 4
	// scrubSlow is in what part of the interval a part is compared, at least.
	scrubSlow = 256
	// scrubRetry is after what part of the interval a part comes again that could not be
	// compared.
	scrubRetry = 8
	// scrubLine is how often it is looked, between two turns, what there is to compare.
	scrubLine = 10 * time.Second
	// rememberEvery is how long what was compared waits for more before it is
	// remembered in the table, and rememberTimeout bounds that.
	rememberEvery   = 15 * time.Second
	rememberTimeout = 5 * time.Second
	// remembered is of how many parts one entry tells.
	remembered = 1024
	// clocksApart is by how much a clock may be ahead of this node's. What was compared
	// later than that, by another one, is as if it never was.
	clocksApart = time.Minute
)

// A rota says which part is compared when. Of all parts that this node serves the one comes
// first that was compared longest ago, by whomever; they come evenly, so that all have had
// their turn once in an interval.
type rota struct {
	anew    bool // a round is ordered
	hurried bool // it goes on, and takes no more time than it must
	// turn is when the last part had its turn, and each how long a part is to take.
	turn time.Time
	each time.Duration
	// queue are the parts to come, in their order, as they are by a state, which was looked
	// at then; left are those of them that have not had their turn in this round.
	queue []part
	by    *table.State
	then  time.Time
	left  int
	// noted is what was compared and is not in the table yet, the first of it at since.
	noted table.Comparisons
	since time.Time
	// seen is when this node looked at a part last, also in vain.
	seen map[ring.Range]time.Time
}

// A part is a row, or as much of it as is compared in one go.
type part struct {
	at   ring.Range
	last time.Time // when it had its turn; zero for never
}

// along cuts a range where others are cut.
func along(r ring.Range) (parts []ring.Range) {
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
func (r *rota) known(st *table.State) table.Comparisons {
	if fresh := r.noted.All(); len(fresh) > 0 {
		return st.Comparisons().With(fresh...)
	}
	return st.Comparisons()
}

// compared is when a part was, zero if never.
func compared(c table.Comparisons, at ring.Range, now time.Time) time.Time {
	seconds := c.Oldest(at)
	if seconds == 0 || time.Unix(seconds, 0).After(now.Add(clocksApart)) {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// line puts the parts of rows in the order of their turns.
func (s *scrub) line(st *table.State, rows []ring.Range, interval time.Duration, now time.Time) {
	known := s.known(st)
	s.queue, s.by, s.then = nil, st, now
	seen := make(map[ring.Range]time.Time)
	for _, row := range rows {
		for _, at := range along(row) {
			p := part{at: at}
			if !s.hurried {
				p.last = compared(known, at, now)
			}
			if tried, ok := s.seen[at]; ok && (!tried.Before(s.figures.Began) || !s.hurried && now.Sub(tried) < interval/scrubRetry) {
				seen[at] = tried
				if tried.After(p.last) {
					p.last = tried
				}
			}
			s.queue = append(s.queue, p)
		}
	}
	s.seen = seen
	slices.SortStableFunc(s.queue, func(a, b part) int { return a.last.Compare(b.last) })
	s.left, _ = slices.BinarySearchFunc(s.queue, s.figures.Began, func(p part, began time.Time) int {
		return cmp.Or(p.last.Compare(began), 1) // behind all that were before it
	})
	f := &s.figures
	f.Total, f.Done = len(s.queue), len(s.queue)-s.left
	s.each = interval / time.Duration(max(len(s.queue), 1))
	if len(s.queue) > 0 {
		if last := s.queue[0].last; !last.IsZero() && now.Sub(last) > interval+interval/16 {
			s.each /= scrubHurry
		}
	}
}

// next is the part whose turn it is, or how long until it is looked again. rows are those
// that this node serves by a state.
func (s *scrub) next(st *table.State, rows func() []ring.Range, interval time.Duration, now time.Time) (p part, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.figures
	switch {
	case s.anew:
		s.anew, s.hurried = false, true
		f.Began, s.by = now, nil
		clear(s.seen)
	case !s.hurried && interval <= 0:
		f.Running, s.by = false, nil
		return part{}, scrubLook
	case !s.hurried && f.Began.IsZero():
		// A node that is started again goes on with a round that it may have been in.
		f.Began = now.Truncate(interval)
	}
	early := !s.hurried && now.Before(s.turn.Add(s.each))
	if s.by == nil || !early && len(s.queue) == 0 || st != s.by && (!early || now.Sub(s.then) >= scrubLine) {
		s.line(st, rows(), interval, now)
		if s.left == 0 && len(s.queue) > 0 {
			s.over(now)
			return part{}, 0
		}
	}
	due := s.turn.Add(s.each)
	if !s.hurried && now.Before(due) {
		return part{}, due.Sub(now)
	}
	if f.Running = len(s.queue) > 0; !f.Running {
		return part{}, scrubLook
	}
	if s.turn = due; now.Sub(due) > s.each {
		s.turn = now
	}
	p = s.queue[0]
	s.queue = s.queue[1:]
	return p, 0
}

// over ends a round, after which the next one begins.
func (s *scrub) over(now time.Time) {
	f := &s.figures
	f.Rounds++
	f.Running, f.Done, f.Ended = false, f.Total, now
	if s.hurried {
		s.turn = now
	}
	s.hurried, s.by = false, nil
	f.Began = now.Add(1) // what has had its turn by now does not count
}

// passed notes that a part has had its turn, and whether it was compared.
func (s *scrub) passed(p part, was bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[p.at] = now
	if p.last.Before(s.figures.Began) {
		s.left--
		s.figures.Done++
		if s.left == 0 {
			s.by = nil // look whether that was all
		}
	}
	if !was {
		return
	}
	if s.since.IsZero() {
		s.since = now
	}
	s.noted = s.noted.With(table.Comparison{Range: p.at, At: now.Unix()})
}

// early is for how long a part has to wait so that it takes as long as it should, of which
// so much is done, from 0 to 1.
func (s *scrub) early(done float64, interval time.Duration, now time.Time) (time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.anew:
		return 0, errRoundAnew
	case s.hurried:
		return 0, nil
	case interval <= 0:
		return 0, errRoundOff
	}
	// Who has few parts by now may have many soon.
	takes := min(s.each, interval/scrubSlow)
	return max(0, s.turn.Add(time.Duration(done*float64(takes))).Sub(now)), nil
}

// remember has the table tell what was compared. What cannot be told now is kept; if this
// node ends first, that little is compared again.
func (e *Engine) remember(ctx context.Context) {
	s := &e.scrub
	s.mu.Lock()
	parts := s.noted.All()
	due := len(parts) > 0 && (len(parts) >= remembered || e.resigning.Load() || time.Since(s.since) >= rememberEvery)
	if due {
		s.since = time.Now()
	}
	s.mu.Unlock()
	if !due {
		return
	}
	within, cancel := context.WithTimeout(ctx, rememberTimeout)
	defer cancel()
	for some := range slices.Chunk(parts, remembered) {
		if err := e.cfg.Table.Apply(within, &table.Compared{Parts: some}); err != nil {
			e.cfg.Logger.Debug("storing the progress of the comparison failed", "err", err)
			return
		}
	}
	s.mu.Lock()
	s.noted, s.since = table.Comparisons{}, time.Time{}
	s.mu.Unlock()
}
