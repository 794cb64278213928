package replica

import (
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// ScrubFigures tell of the check of this node's ranges, since it was started.
type ScrubFigures struct {
	// Running tells that a round goes on, which began at Began and has come by Done of
	// Total ranges. Rounds have come to their end, the last of them at Ended.
	Running      bool
	Began, Ended time.Time
	Done, Total  int
	Rounds       int64
	// Compared are ranges that were compared, with one backup each, or read where there is
	// none; Skipped could not be.
	Compared, Skipped int64
	// Undecided are small parts of ranges that could not be compared because clients
	// wrote there each time.
	Undecided int64
	// Differed are backups of a range that were found to differ from their primary, this
	// node, and left the set; of these, Repaired are back, or others in their place, and
	// Repairing are not.
	Differed, Repaired int64
	Repairing          int
	// Damaged are ranges in which this node cannot read something now, and Unmended why
	// those of them stay so of which nobody has an undamaged copy, or that wait. Yielded
	// were given to others for damage, and Discarded removed from the disk.
	Damaged            int
	Unmended           []string
	Yielded, Discarded int64
}

// Scrub tells of the check.
func (e *Engine) Scrub() ScrubFigures {
	s := &e.scrub
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.figures
	f.Repairing, f.Damaged = len(s.repairs), len(s.states)
	for _, m := range s.states {
		if m.why != "" {
			f.Unmended = append(f.Unmended, m.at.String()+": "+m.why)
		}
	}
	slices.Sort(f.Unmended)
	return f
}

// due is how long it is until a round begins, if that is known. One that had nothing to wait
// for, since this node serves a single range, is not followed by the next before the interval
// is over.
func (s *scrub) due(interval time.Duration, now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.anew:
		return 0
	case interval <= 0:
		return scrubLook
	case s.figures.Rounds == 0:
		return 0
	}
	return max(0, s.figures.Began.Add(interval).Sub(now))
}

func (s *scrub) begin(rows int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hurried, s.anew = s.anew, false
	f := &s.figures
	f.Running, f.Began, f.Done, f.Total = true, now, 0, rows
}

// left says how many ranges are still to come, since others may have come to be served
// here, or are not any more.
func (s *scrub) left(rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.Total = s.figures.Done + rows
}

func (s *scrub) passed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.Done++
	s.figures.Total = max(s.figures.Total, s.figures.Done)
}

func (s *scrub) end(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := &s.figures
	f.Running = false
	if err == nil {
		f.Rounds++
		f.Done, f.Ended = f.Total, time.Now()
	}
	return err
}

// early is for how long a round has to wait so that it takes as long as it should, if it
// has come to a part of a row.
func (s *scrub) early(part float64, interval time.Duration, now time.Time) (time.Duration, error) {
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
	f := &s.figures
	share := (float64(f.Done) + part) / float64(max(f.Total, 1))
	return max(0, f.Began.Add(time.Duration(share*float64(interval))).Sub(now)), nil
}

// A repair is a backup that has left a set because it differed, and is to be back.
type repair struct {
	at   ring.Range
	node string
}

func (s *scrub) differs(r repair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.figures.Differed++
	if !slices.Contains(s.repairs, r) {
		s.repairs = append(s.repairs, r)
	}
}

// repaired notes which backups are back by a state, or have others in their place, and
// returns them. Of what another node serves by now it is not known.
func (s *scrub) repaired(st *table.State, self string) (back []repair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repairs = slices.DeleteFunc(s.repairs, func(r repair) bool {
		is, ours := true, false
		for row := range overlappingRows(st, r.at) {
			is = is && (row.Holds(r.node) || len(row.Backups) >= st.Cluster().Backups)
			ours = ours || row.Primary == self
		}
		if is {
			s.figures.Repaired++
			back = append(back, r)
		}
		return is || !ours
	})
	return back
}

// noteRepairs notes which backups are back, and returns how many are not.
func (e *Engine) noteRepairs() int {
	for _, r := range e.scrub.repaired(e.cfg.Table.State(), e.cfg.Self) {
		e.cfg.Logger.Info("a backup that differed has been repaired", "node", r.node, "range", r.at)
	}
	e.scrub.mu.Lock()
	defer e.scrub.mu.Unlock()
	return len(e.scrub.repairs)
}
