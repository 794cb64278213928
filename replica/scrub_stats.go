package replica

import (
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// ScrubStats tell of the check of this node's ranges, since it was started. A range of more
// than a 1024th of all tokens is compared, and counted, in parts.
type ScrubStats struct {
	// Oldest is when what this node serves was compared, or read, for which that is longest
	// ago, by whichever node served it then; Never are the ranges that never were.
	Oldest time.Time
	Never  int
	// Running tells that a round goes on, in which all is compared that was not since
	// Began, and Done of Total ranges were. Rounds have come to their end, the last of them
	// at Ended.
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
	Unrepaired         []string
	Yielded, Discarded int64
}

// ScrubStats tells of the check.
func (e *Engine) ScrubStats() ScrubStats {
	s := &e.scrub
	st, now := e.cfg.Table.State(), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.stats
	f.Oldest, f.Never = oldest(st, s.known(st), e.cfg.Self, now)
	f.Repairing, f.Damaged = len(s.repairs), len(s.damagedRanges)
	for _, m := range s.damagedRanges {
		if m.blockedBy != "" {
			f.Unrepaired = append(f.Unrepaired, m.r.String()+": "+m.blockedBy)
		}
	}
	slices.Sort(f.Unrepaired)
	return f
}

// oldest is when what a node serves was compared for which that is longest ago, and how
// much of it never was.
func oldest(st *table.State, known table.Comparisons, node string, now time.Time) (at time.Time, never int) {
	for row := range st.Rows() {
		if row.Primary != node {
			continue
		}
		for _, part := range cutByGrid(row.Range) {
			last := compared(known, part, now)
			if last.IsZero() {
				never++
			} else if at.IsZero() || last.Before(at) {
				at = last
			}
		}
	}
	return at, never
}

// A repair is a backup that has left a set because it differed, and is to be back.
type repair struct {
	at   ring.Range
	node string
}

func (s *scrub) addRepair(r repair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Differed++
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
		for row := range spans.Rows(st, r.at) {
			is = is && (row.Holds(r.node) || len(row.Backups) >= st.Cluster().Backups)
			ours = ours || row.Primary == self
		}
		if is {
			s.stats.Repaired++
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
