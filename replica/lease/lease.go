package lease

import (
	"context"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Consensus is what leases need of the Raft group.
type Consensus interface {
	// Leader returns the node that leads, as far as this one knows; empty if it knows none.
	Leader() (id string, isSelf bool)
	// Confirm returns the term in which this node leads, once a majority has confirmed it since the
	// call.
	Confirm(ctx context.Context) (term uint64, err error)
	// Barrier waits until all entries decided before the call are applied here.
	Barrier(ctx context.Context) error
	// Term returns the newest term that this node knows.
	Term() uint64
	// ApplyIn has a command decided in one term of this node's leadership or not at all. Its
	// outcome is that of Table.Apply.
	ApplyIn(ctx context.Context, term uint64, c table.Command) error
	// Alone reports whether this node leads and no entry can be decided without it, and how often
	// that has begun.
	Alone() (begun uint64, is bool)
	// Fault returns why this node does not follow the table, for good or at this moment.
	Fault() error
	// TransferLeadership hands the leadership to another node, if this one has it.
	TransferLeadership(ctx context.Context) error
	// TransferLeadershipFromStalledDisk is TransferLeadership to a node whose disk works. It fails
	// if none is known.
	TransferLeadershipFromStalledDisk(ctx context.Context) error
}

// Config says how a node takes part in leases. Without a Clock it needs none.
type Config struct {
	// Clock returns the time since some moment. It runs while the machine is suspended and is never
	// set.
	Clock func() time.Duration
	// OwnClock counts this node's own lease. It may jump ahead of Clock at any moment, never back:
	// then the lease ends early. nil is Clock.
	OwnClock func() time.Duration
	// Consensus is the Raft group of the engine's table.
	Consensus Consensus
	// Ask sends a question to the engine of another node, which answers it in Engine.Answer.
	Ask func(ctx context.Context, node string, question []byte) ([]byte, error)
	// Reach opens a new connection to another node and closes it. It returns nil if the node accepts
	// it, an ErrUnreached if it does not, and another error if that says nothing about the node.
	// Without Reach, nodes count as reachable.
	Reach func(ctx context.Context, node string) error
}

// Validate returns an error if a node with a Clock lacks a Consensus or Ask.
func (c *Config) Validate() error {
	if c.Clock != nil && (c.Consensus == nil || c.Ask == nil) {
		return errors.New("replica: leases need a consensus and a way to ask")
	}
	return nil
}

// A Lease is a node's permission to answer for its ranges. Its methods may be called from any
// goroutine.
type Lease struct {
	Cfg         Config
	Until       atomic.Int64  // by OwnClock; math.MaxInt64 without leases
	lapses      atomic.Uint64 // number of times that the lease was regained after it had expired
	suspended   atomic.Int64  // number of failovers for which Suspend was called, and Resume was not
	rowsVersion atomic.Uint64 // changes when the rows of the node change
	// Refresh brings the routes in line with the newest state of the table.
	Refresh func()

	mu            sync.Mutex
	holder        Holder
	regained      chan struct{} // closed when the lease is valid again; nil while no goroutine waits
	losses        []rowLoss     // the last ones, in order
	forgottenUpTo uint64        // number of the newest loss that was dropped

	Counters Counters
}

// New returns a lease that is not valid yet; without a Clock it is always valid.
func New(cfg Config) *Lease {
	l := &Lease{Cfg: cfg}
	if cfg.OwnClock == nil {
		l.Cfg.OwnClock = cfg.Clock
	}
	if cfg.Clock == nil {
		l.Until.Store(math.MaxInt64)
	}
	return l
}

// Valid reports whether the node may answer at this moment.
func (l *Lease) Valid() bool {
	until := l.Until.Load()
	if until == math.MaxInt64 || until != 0 && l.Cfg.OwnClock() < time.Duration(until) {
		return true
	}
	if l.Cfg.Clock == nil || l.suspended.Load() > 0 {
		return false
	}
	_, alone := l.Cfg.Consensus.Alone()
	return alone
}

// Suspend takes from the only voter the permission that it has without a lease, until Resume is
// called. Its failover begins: another node answers for its ranges as soon as the entry is
// decided, and this node may apply the entry later, or never if its table is stuck. A lease that it
// was granted goes on, but the leader begins no failover before that has expired.
func (l *Lease) Suspend() { l.suspended.Add(1) }

// Resume undoes one Suspend, once the outcome of the failover is applied here.
func (l *Lease) Resume() {
	l.Refresh()
	l.lapses.Add(1) // before the lease is valid again, as in Advance
	l.suspended.Add(-1)
}

// Mark returns a number for [Lease.HeldSince], which grows with the lapses, and the version of the
// rows, for [Lease.WaitUnchanged]. Take it before looking up the owner of a key.
func (l *Lease) Mark() (spell, rows uint64) { return l.spell(), l.rowsVersion.Load() }

// spell counts the lapses, and how often the node has become the only voter: before that, others
// may have decided a failover while its lease had lapsed.
func (l *Lease) spell() uint64 {
	n := l.lapses.Load()
	if l.Cfg.Clock != nil {
		begun, _ := l.Cfg.Consensus.Alone()
		n += begun
	}
	return n
}

// HeldSince reports whether the lease is valid and has not lapsed since the mark. Then no other
// node has become the primary of the node's ranges since, except by a handoff of the node itself.
//
// The order of the two checks matters. Advance counts a lapse before it makes the lease valid
// again. So if the lease is valid and the count is still that of the mark afterwards, the lease has
// not lapsed in between. In the other order a new lease could begin between the checks.
func (l *Lease) HeldSince(spell uint64) bool {
	return l.Valid() && (l.spell() == spell || l.holder.Disabled.SameInterval)
}

// WaitUnchanged waits until the lease is valid again, for most at the most and until one of the
// channels is closed. It returns true if the node then serves the tokens as it did at the mark and
// no other node has served them meanwhile. Without tokens this holds for all ranges that it served.
func (l *Lease) WaitUnchanged(rows uint64, of []ring.Token, most time.Duration, done, gone <-chan struct{}) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	for {
		l.mu.Lock()
		if l.regained == nil {
			l.regained = make(chan struct{})
		}
		back := l.regained
		l.mu.Unlock()
		if spell, _ := l.Mark(); l.HeldSince(spell) {
			l.Refresh()
			if l.HeldSince(spell) {
				return l.rowsKept(rows, of)
			}
			continue
		}
		select {
		case <-back:
		case <-timer.C:
			return false
		case <-done:
			return false
		case <-gone:
			return false
		}
	}
}

// Advance applies a change to the holder and makes it visible.
//
// Invariant: when a lapsed lease is valid again, routes and rows are those of a table that the
// granting leader knew, before a caller can get a mark with the new count. A caller that has such a
// mark and then looks up the owner of a key gets the right one.
func (l *Lease) Advance(change func(h *Holder)) {
	l.mu.Lock()
	change(&l.holder)
	until := l.holder.Until
	l.mu.Unlock()
	if until == time.Duration(l.Until.Load()) {
		return
	}
	again := l.Cfg.OwnClock() >= time.Duration(l.Until.Load())
	if again {
		l.Refresh()
		l.lapses.Add(1)
	}
	l.Until.Store(int64(until))
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.regained != nil && l.Valid() {
		close(l.regained)
		l.regained = nil
	}
}
