package node

import (
	"time"

	"github.com/ringside-kv/ringside/resp/status"
)

// scrub is how it stands with the check of this node's copies.
func (c *cluster) scrub() *status.Scrub {
	f := c.engine.Scrub().Stats()
	s := &status.Scrub{
		Interval: c.n.server.ScrubInterval().Seconds(), Running: f.Running, Done: f.Done, Total: f.Total, Rounds: f.Rounds,
		Compared: f.Compared, Skipped: f.Skipped, Undecided: f.Undecided, Differed: f.Differed, Repaired: f.Repaired,
		Repairing: f.Repairing, Damaged: f.Damaged, Unmended: f.Unrepaired, Yielded: f.Yielded, Discarded: f.Discarded,
	}
	if s.Never = f.Never; !f.Oldest.IsZero() {
		s.OldestAge = max(time.Since(f.Oldest).Seconds(), 0)
	}
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		return &t
	}
	s.Began, s.Ended = at(f.Began), at(f.Ended)
	return s
}
