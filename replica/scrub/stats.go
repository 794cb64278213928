package scrub

import (
	"slices"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/spans"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Stats are figures of the scrub of this node's ranges since its start. A range of more than
// 1/1024 of all tokens is compared, and counted, in parts.
type Stats struct {
	// Oldest is the time of the oldest last comparison among this node's ranges, on whichever node
	// it took place; Never counts ranges without one.
	Oldest time.Time
	Never  int
	// Running reports that a round is under way. It began at Began and compares all ranges that
	// were last compared before; Done of Total ranges are done. Rounds counts completed rounds, the
	// last one at Ended.
	Running      bool
	Began, Ended time.Time
	Done, Total  int
	Rounds       int64
	// Compared are ranges compared with a backup, or read if there is none; Skipped could not be
	// compared.
	Compared, Skipped int64
	// Undecided are key spans that could not be compared because clients wrote in them each time.
	Undecided int64
	// Differed are backups that differed from this node and left the set. Repaired of them, or
	// others in their place, are in sync again; Repairing are not.
	Differed, Repaired int64
	Repairing          int
	// Damaged are ranges that this node cannot read completely, Unrepaired the reasons why some of
	// them stay so. Yielded were given to other nodes because of damage, Discarded removed from the
	// disk.
	Damaged            int
	Unrepaired         []string
	Yielded, Discarded int64
}

// Stats returns figures of the scrub.
func (s *Scrub) Stats() Stats {
	st, now := s.cfg.Table.State(), time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.stats
	f.Oldest, f.Never = oldest(st, s.known(st), s.cfg.Self, now)
	f.Repairing, f.Damaged = len(s.repairs), len(s.damagedRanges)
	for _, m := range s.damagedRanges {
		if m.blockedBy != "" {
			f.Unrepaired = append(f.Unrepaired, m.r.String()+": "+m.blockedBy)
		}
	}
	slices.Sort(f.Unrepaired)
	return f
}

// oldest returns the time of the oldest last comparison among a node's ranges, and how many have
// none.
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

// A repair is a backup that has left a set because it differed and must return.
type repair struct {
	at   ring.Range
	node string
}

func (s *Scrub) addRepair(r repair) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Differed++
	if !slices.Contains(s.repairs, r) {
		s.repairs = append(s.repairs, r)
	}
}

// repaired removes and returns the backups that are in sync again, or were replaced. Ranges that
// another node serves now are dropped.
func (s *Scrub) repaired(st *table.State, self string) (back []repair) {
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

// noteRepairs logs the backups that are in sync again, and returns how many are not.
func (s *Scrub) noteRepairs() int {
	for _, r := range s.repaired(s.cfg.Table.State(), s.cfg.Self) {
		s.cfg.Logger.Info("a backup that differed has been repaired", "node", r.node, "range", r.at)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.repairs)
}

// NoteDiscarded records that damaged ranges were removed from the disk.
func (s *Scrub) NoteDiscarded(ranges []ring.Range) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Discarded += int64(len(ranges))
	for _, r := range ranges {
		delete(s.damagedRanges, r)
	}
}
