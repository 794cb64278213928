package resp

import (
	"math/bits"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
)

// An uncounted is what a connection has run, and the server's counters do not say yet. They are
// shared by all connections, so that each count fetches them from another processor: a
// connection passes on what a unit comes to. It belongs to the connection's goroutine.
//
// Invariant: it is empty when replies leave, but for one that is sent while it is made, and when
// a command begins that may show the counters. So whoever has heard of a command finds it counted,
// and so does the next command of its connection in any case.
type pendingStats struct {
	cmd   *command.Row // whose calls these are
	nanos int64
	command.Lookups
	used    uint32                 // bit i: there is something in latency[i]
	latency [latencyBuckets]uint32 // calls
}

// count notes a command that ran, and how long it took.
func (u *pendingStats) count(s *stats, cmd *command.Row, took time.Duration) {
	if u.cmd != cmd {
		u.flush(s)
		u.cmd = cmd
	}
	u.nanos += int64(took)
	i := latencyBucket(took)
	u.latency[i]++
	u.used |= 1 << i
}

// flush adds what there is to the server's counters.
func (u *pendingStats) flush(s *stats) {
	if u.used != 0 {
		c := &s.commands[u.cmd.ID]
		calls := int64(0)
		for ; u.used != 0; u.used &= u.used - 1 {
			i := bits.TrailingZeros32(u.used)
			n := int64(u.latency[i])
			c.latency[i].Add(n)
			calls += n
			u.latency[i] = 0
		}
		c.calls.Add(calls)
		c.nanos.Add(u.nanos)
		u.nanos = 0
	}
	if u.Hits != 0 {
		s.hits.Add(u.Hits)
		u.Hits = 0
	}
	if u.Misses != 0 {
		s.misses.Add(u.Misses)
		u.Misses = 0
	}
}
