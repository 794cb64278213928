package status

import (
	"fmt"
	"io"
	"time"
)

// A Scrub is how it stands with the comparison of a node's ranges with their backups, since
// it was started. Ranges of more than a 1024th of all keys are counted in parts.
type Scrub struct {
	// Interval is in how many seconds the node compares all that it serves; 0: only when
	// it is told to.
	Interval float64 `json:"interval_seconds"`
	// Running reports that a round is under way, which has done Done of Total ranges since
	// Began. Rounds have come to their end, the last of them at Ended.
	Running bool       `json:"running"`
	Began   *time.Time `json:"began,omitempty"`
	Done    int        `json:"ranges_done"`
	Total   int        `json:"ranges"`
	Rounds  int64      `json:"rounds"`
	Ended   *time.Time `json:"ended,omitempty"`
	// OldestAge is in seconds how long ago that was compared for which it is longest, by
	// whichever node served it then, of what this one serves; Never are ranges that never
	// were.
	OldestAge float64 `json:"oldest_age_seconds"`
	Never     int     `json:"never"`
	// Compared are copies of ranges that were compared, or read where there is only one;
	// Skipped could not be. Undecided are a few keys each that clients wrote all the time.
	Compared  int64 `json:"compared"`
	Skipped   int64 `json:"skipped"`
	Undecided int64 `json:"undecided"`
	// Differed are copies that did not have what the node has; Repaired of them have by
	// now, or others in their place, and Repairing do not.
	Differed  int64 `json:"differed"`
	Repaired  int64 `json:"repaired"`
	Repairing int   `json:"repairing"`
	// Damaged are ranges in which the node cannot read something, Unmended those of them
	// that stay so, with the reasons. Yielded were given up for damage, Discarded removed.
	Damaged   int      `json:"damaged"`
	Unmended  []string `json:"unmended,omitempty"`
	Yielded   int64    `json:"yielded"`
	Discarded int64    `json:"discarded"`
}

// mostUnmended is how many ranges are named.
const mostUnmended = 3

// notes are what an operator should know of a node's check.
func (s *Scrub) notes(node string) (notes []string) {
	if s.Damaged > 0 {
		notes = append(notes, fmt.Sprintf("%s cannot read all of %s: its disk has damaged something", node, plural(s.Damaged, "range")))
	}
	for i, text := range s.Unmended {
		if i == mostUnmended {
			notes = append(notes, fmt.Sprintf("%s: and %d more", node, len(s.Unmended)-i))
			break
		}
		notes = append(notes, fmt.Sprintf("%s: %s", node, text))
	}
	if late := s.age(); s.Interval > 0 && s.OldestAge > 2*s.Interval {
		notes = append(notes, fmt.Sprintf("%s serves what was compared with its backups %s ago: it was to be every %s", node, late, duration(s.Interval)))
	}
	if s.Repairing > 0 {
		notes = append(notes, fmt.Sprintf("%s of what %s serves did not have all of it: it is copied anew", plural(s.Repairing, "backup"), node))
	}
	return notes
}

// age is how long ago the oldest comparison was.
func (s *Scrub) age() string { return duration(s.OldestAge) }

// duration is seconds in the unit that fits.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days", d/(24*time.Hour))
	case d >= 2*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	case d >= 2*time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}

// DrawScrub tells, node by node, how far the comparison of copies is, and what it found,
// within [LeastWidth].
func DrawScrub(w io.Writer, r *Report) error {
	d := drawing{r: r, cells: LeastWidth}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		if n.Role != "store" {
			continue
		}
		d.line("%s", n.ID)
		lines := []string{"does not tell"}
		if n.Answered && n.Scrub != nil {
			lines = n.Scrub.lines()
		}
		for _, line := range lines {
			for _, part := range wrap(line, d.cells-2) {
				d.out.WriteString("  " + part + "\n")
			}
		}
		if n.Scrub == nil {
			continue
		}
		for _, note := range n.Scrub.notes(n.ID) {
			d.line("! %s", note)
		}
	}
	_, err := io.WriteString(w, d.out.String())
	return err
}

// lines say how far it is, how old the oldest comparison is, and what was found.
func (s *Scrub) lines() []string {
	round := "no round goes on"
	if s.Running {
		round = fmt.Sprintf("%d of %s compared", s.Done, plural(s.Total, "part"))
		if s.Began != nil {
			round += " since " + s.Began.UTC().Format(time.DateTime)
		}
	}
	before := plural(int(s.Rounds), "round") + " done"
	if s.Ended != nil {
		before += ", the last at " + s.Ended.UTC().Format(time.DateTime)
	}
	lines := []string{round, before}
	switch {
	case s.OldestAge > 0 && s.Never > 0:
		lines = append(lines, fmt.Sprintf("the oldest comparison was %s ago, %s not yet compared", s.age(), plural(s.Never, "part")))
	case s.OldestAge > 0:
		lines = append(lines, fmt.Sprintf("the oldest comparison was %s ago", s.age()))
	case s.Never > 0:
		lines = append(lines, "nothing compared yet")
	}
	return append(lines, fmt.Sprintf("%d copies differed, %d repaired, %d removed for damage, %d skipped", s.Differed, s.Repaired, s.Discarded, s.Skipped))
}

// scrubbing is how far the rounds of all nodes are.
func (d *drawing) scrubbing() {
	done, total := 0, 0
	for i := range d.r.Nodes {
		if s := d.r.Nodes[i].Scrub; s != nil && s.Running {
			done, total = done+s.Done, total+s.Total
		}
	}
	if total > 0 {
		d.line("copies are compared: %d of %s in this round", done, plural(total, "part"))
	}
}
