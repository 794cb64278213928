package node

import (
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/resp/status"
)

// leaseOf is how a node's lease is reported; nil if it needs none.
func leaseOf(l lease.Stats) *status.Lease {
	if !l.Needed {
		return nil
	}
	return &status.Lease{
		Valid: l.Valid, Alone: l.Alone, Left: l.Left.Seconds(), Fault: l.Fault,
		Granted: l.Granted, Refused: l.Refused, Lapses: l.Lapses,
		Given: l.Given, Withheld: l.Withheld, Failovers: l.Failovers, Promoted: l.Promoted,
		ClockOf: l.ClockOf, ClockOffset: l.ClockOffset.Seconds(), ClockSkewed: l.ClockSkewed,
	}
}
