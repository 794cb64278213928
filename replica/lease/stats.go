package lease

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxClockSkew is the difference between the wall clocks of a node and the leader that is reported.
// Keys expire by the clock of the node that serves them.
const maxClockSkew = 500 * time.Millisecond

// Counters count the leases of a node, and those that it granted as the leader.
type Counters struct {
	Granted, refused, Lapses atomic.Int64 // to this node
	Given, Withheld          atomic.Int64 // by this node
	Failovers, Promoted      atomic.Int64
	mu                       sync.Mutex
	lastFault                string
	leader                   string
	offset, within           time.Duration // of the leader's wall clock, ±
	compared                 bool
}

// Failed counts a request for a lease that was not granted, and keeps the reason.
func (f *Counters) Failed(err error) {
	f.refused.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastFault = err.Error()
}

// Compare records how far the leader's wall clock is ahead of this node's.
func (f *Counters) Compare(leader string, began, ended time.Time, wall int64) {
	half := ended.Sub(began) / 2
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leader, f.compared, f.lastFault = leader, true, ""
	f.offset, f.within = time.UnixMilli(wall).Sub(began.Round(0).Add(half)), half+time.Millisecond
}

// Stats are the figures of a node's lease.
type Stats struct {
	// Needed reports that this node takes part in leases; Alone, that it needs none at present,
	// since no entry is decided without it.
	Needed, Alone bool
	Valid         bool
	// Left is the remaining time of the lease; negative: the time since it expired.
	Left time.Duration
	// Fault is why the last request failed; empty if it did not.
	Fault string
	// Granted and Refused count this node's requests, Lapses how often its lease expired.
	Granted, Refused, Lapses int64
	// Given and Withheld count this node's replies as the leader, Failovers the nodes that it
	// replaced, Promoted the ranges that got another primary by that.
	Given, Withheld, Failovers, Promoted int64
	// ClockOffset is how far the wall clock of the leader, ClockOf, is ahead of this node's, ±
	// ClockWithin. It is valid if ClockOf is not empty.
	ClockOf                  string
	ClockOffset, ClockWithin time.Duration
	// ClockSkewed reports that the clocks differ by more than half a second for certain.
	ClockSkewed bool
}

// Stats returns the figures of this node's lease, and of those that it granted as the leader.
func (l *Lease) Stats(self string) Stats {
	f := &l.Counters
	s := Stats{
		Valid:   l.Valid(),
		Granted: f.Granted.Load(), Refused: f.refused.Load(), Lapses: f.Lapses.Load(),
		Given: f.Given.Load(), Withheld: f.Withheld.Load(), Failovers: f.Failovers.Load(), Promoted: f.Promoted.Load(),
	}
	if l.Cfg.Clock == nil {
		return s
	}
	s.Needed = true
	_, s.Alone = l.Cfg.Consensus.Alone()
	if until := time.Duration(l.Until.Load()); until != 0 {
		s.Left = until - l.Cfg.OwnClock()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Fault = f.lastFault
	if f.compared && f.leader != self {
		s.ClockOf, s.ClockOffset, s.ClockWithin = f.leader, f.offset, f.within
		s.ClockSkewed = max(f.offset, -f.offset)-f.within > maxClockSkew
	}
	return s
}
