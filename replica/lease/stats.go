package lease

import (
	"sync"
	"sync/atomic"
	"time"
)

// maxClockSkew is by how much a node's clock on the wall may differ from the leader's
// before it is reported: keys expire by the clock of whoever serves them.
const maxClockSkew = 500 * time.Millisecond

// leaseStats are what a node counts of its leases, and as the leader of others'.
type Counters struct {
	Granted, refused, Lapses atomic.Int64 // to this node
	Given, Withheld          atomic.Int64 // by this node
	Failovers, Promoted      atomic.Int64
	mu                       sync.Mutex
	lastFault                string
	leader                   string
	offset, within           time.Duration // of the leader's clock on the wall, ±
	compared                 bool
}

func (f *Counters) Failed(err error) {
	f.refused.Add(1)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastFault = err.Error()
}

// compare notes how far the leader's clock on the wall is ahead of this node's.
func (f *Counters) Compare(leader string, began, ended time.Time, wall int64) {
	half := ended.Sub(began) / 2
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leader, f.compared, f.lastFault = leader, true, ""
	f.offset, f.within = time.UnixMilli(wall).Sub(began.Round(0).Add(half)), half+time.Millisecond
}

// LeaseStats tells how it stands with leases.
type Stats struct {
	// Needed tells that this node takes part in leases at all; Alone that it has no need
	// of one, since nothing is decided without it.
	Needed, Alone bool
	Valid         bool
	// Left is for how long the lease goes on; negative: for how long it has been over.
	Left time.Duration
	// Fault is why the last request was in vain; empty if it was not.
	Fault string
	// Granted and Refused count this node's requests, Lapses how often its lease ended.
	Granted, Refused, Lapses int64
	// Given and Withheld count what this node has answered as the leader, Failovers the
	// nodes that it has replaced, and Promoted the ranges that got another primary so.
	Given, Withheld, Failovers, Promoted int64
	// ClockOffset is how far the clock on the wall of the leader, ClockOf, is ahead of
	// this node's, give or take ClockWithin. It counts only if ClockOf is not empty.
	ClockOf                  string
	ClockOffset, ClockWithin time.Duration
	// ClockSkewed tells that they differ by more than half a second for certain.
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
	s.Needed, s.Alone = true, l.Cfg.Consensus.Alone()
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
