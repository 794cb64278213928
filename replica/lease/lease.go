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

// A Consensus is what leases need of the group that decides.
type Consensus interface {
	// Leader is the node that leads, as far as this one knows; empty if it knows none.
	Leader() (id string, isSelf bool)
	// Confirm returns the term in which this node leads, once a majority has confirmed
	// that since the call.
	Confirm(ctx context.Context) (term uint64, err error)
	// Barrier waits until what was decided before is applied here.
	Barrier(ctx context.Context) error
	// Term is the newest that this node knows.
	Term() uint64
	// ApplyIn has a command decided in one term of this node's office or not at all.
	// Its outcome is like that of Table.Apply.
	ApplyIn(ctx context.Context, term uint64, c table.Command) error
	// Alone tells whether nothing can be decided without this node, which leads.
	Alone() bool
	// Fault is why this node does not follow the table any more, or at this moment.
	Fault() error
	// TransferLeadership asks another node to lead in this one's place, if this one leads.
	TransferLeadership(ctx context.Context) error
	// TransferLeadershipFromStalledDisk is TransferLeadership to a node whose disk works; it fails if none is known.
	TransferLeadershipFromStalledDisk(ctx context.Context) error
}

// LeaseConfig is how a node takes part in leases; without a Clock it needs none.
type Config struct {
	// Clock tells the time since some moment. It goes on while the machine is suspended
	// and is never set.
	Clock func() time.Duration
	// OwnClock is the clock by which this node's own lease is counted. It may go ahead of Clock
	// at any moment, never back: then the lease is over early. nil is Clock.
	OwnClock func() time.Duration
	// Consensus belongs to the same table as [Config.Table].
	Consensus Consensus
	// Ask takes a question to [Engine.Answer] of another node.
	Ask func(ctx context.Context, node string, question []byte) ([]byte, error)
}

func (c *Config) Validate() error {
	if c.Clock != nil && (c.Consensus == nil || c.Ask == nil) {
		return errors.New("replica: leases need a consensus and a way to ask")
	}
	return nil
}

// A Lease is a node's permission to answer for its ranges. Its methods may be called from
// any goroutine.
type Lease struct {
	Cfg         Config
	Until       atomic.Int64  // on the clock; math.MaxInt64 without leases
	lapses      atomic.Uint64 // rises when the lease is there again after it was over
	rowsVersion atomic.Uint64 // rises when the node's own rows become others
	// refresh brings rows up to date with the table as it is.
	Refresh func()

	mu            sync.Mutex
	holder        Holder
	regained      chan struct{} // closed when the lease is there again; nil while nobody waits
	losses        []rowLoss     // the last of them, in order
	forgottenUpTo uint64        // number of the newest that is not there any more

	Counters Counters
}

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

// Valid tells whether the node may answer at this moment.
func (l *Lease) Valid() bool {
	until := l.Until.Load()
	if until == math.MaxInt64 || until != 0 && l.Cfg.OwnClock() < time.Duration(until) {
		return true
	}
	return l.Cfg.Clock != nil && l.Cfg.Consensus.Alone()
}

// Mark is a moment in the life of the lease: spell is for [Lease.HeldSince], rows for
// [Lease.WaitUnchanged]. It is taken before it is looked up whose a key is.
func (l *Lease) Mark() (spell, rows uint64) { return l.lapses.Load(), l.rowsVersion.Load() }

// HeldSince reports whether the lease is valid, and has been since a mark. So no other node can
// have become the primary of the node's ranges since, but by a handoff of its own.
//
// The order of the two checks matters. advance raises spell before it makes the lease valid
// again. A lease that is valid now, and whose spell is the mark's after that, has therefore
// not been over in between. The other way round, a new lease could come between the checks.
func (l *Lease) HeldSince(spell uint64) bool {
	return l.Valid() && (l.lapses.Load() == spell || l.holder.Disabled.SameInterval)
}

// WaitUnchanged waits, for so long at most and as long as neither channel is closed, until the
// lease is valid again. It returns true if then all is as it was at a mark: the node
// serves these tokens as it did, and nobody else has served them meanwhile. Without
// tokens that is asked of all that it served.
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

// advance has what the holder knows take effect.
//
// Invariant: when a lease is there again after it was over, routes and rows are those of
// a table that the leader of the grant knew, before anybody can take a mark of the new
// spell. So whoever has that mark, and then looks up whose a key is, is right.
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
