package stats

import (
	"math/bits"
	"time"

	"github.com/ringside-kv/ringside/internal/durations"
	"github.com/ringside-kv/ringside/resp/internal/command"
)

// A Pending is what a connection has run and the counters of the server do not include yet. All
// connections share the counters, so each addition fetches them from another processor; a
// connection therefore adds once a unit. Pending belongs to the goroutine of its connection.
//
// Invariant: it is empty when replies leave, except for replies sent while they are made, and when
// a command begins that may show the counters. So a client that has a command's reply finds the
// command counted.
type Pending struct {
	cmd   *command.Row // whose calls these are
	nanos int64
	command.Lookups
	used    uint32                    // bit i: there is something in latency[i]
	latency [durations.Buckets]uint32 // calls
}

// Count notes a command that ran, and how long it took.
func (u *Pending) Count(s *Stats, cmd *command.Row, took time.Duration) {
	if u.cmd != cmd {
		u.Flush(s)
		u.cmd = cmd
	}
	u.nanos += int64(took)
	i := durations.Bucket(took)
	u.latency[i]++
	u.used |= 1 << i
}

// Flush adds what there is to the server's counters.
func (u *Pending) Flush(s *Stats) {
	if u.used != 0 {
		c := &s.Commands[u.cmd.ID]
		calls := int64(0)
		for ; u.used != 0; u.used &= u.used - 1 {
			i := bits.TrailingZeros32(u.used)
			n := int64(u.latency[i])
			c.latency[i].Add(n)
			calls += n
			u.latency[i] = 0
		}
		c.Calls.Add(calls)
		c.Nanos.Add(u.nanos)
		u.nanos = 0
	}
	if u.Hits != 0 {
		s.Hits.Add(u.Hits)
		u.Hits = 0
	}
	if u.Misses != 0 {
		s.Misses.Add(u.Misses)
		u.Misses = 0
	}
}
