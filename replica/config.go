package replica

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/lease"
	"github.com/ringside-kv/ringside/replica/step"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// A Table is the agreed table of ranges.
type Table interface {
	// State is the newest that this node has applied.
	State() *table.State
	// Changes returns a channel that has a value whenever the state has changed since
	// it was last received from, until cancel is called.
	Changes() (changes <-chan struct{}, cancel func())
	// Apply has a command decided. When it returns nil, this node has applied it. A
	// refusal wraps one of package table's reasons; with any other error the outcome is
	// not known.
	Apply(ctx context.Context, c table.Command) error
	// Leads tells whether this node leads the group that decides.
	Leads() bool
}

// A Front answers clients.
type Front interface {
	// Route makes it serve by a placement, without the ranges that are held.
	Route(p *ring.Placement, held func(ring.Range) bool)
	// Quiesce returns once nothing runs any more on ranges that began under earlier routes.
	// When ctx ends first it returns which of the ranges something is still running on.
	Quiesce(ctx context.Context, ranges []ring.Range) (occupied []ring.Range, err error)
}

// Lineages are what a node remembers of whose past its data are. Its methods are called
// by one goroutine at a time.
type Lineages interface {
	// Belongs makes it last that what lies in a range is of a lineage.
	SetLineage(r ring.Range, lineage uint64) error
	// Aside makes a copy of what lies in a range and is of another lineage, where it
	// lasts, and tells whether there was any.
	SetAside(r ring.Range, lineage uint64) (any bool, err error)
}

// Config of an [Engine].
type Config struct {
	Self        string
	Incarnation uint64
	// Copied tells that the node's directory is a copy, whose original may run. Once this
	// start is registered the original gets no lease; the engine asks for none before the
	// last one of the original is over.
	Copied   bool
	Strategy ring.Strategy
	Store    Store
	Table    Table
	Front    Front
	// Dial opens a connection to another node for a [Stream].
	Dial func(ctx context.Context, node string) (net.Conn, error)
	// DialFeed opens one for [Engine.ServeFeed] there.
	DialFeed func(ctx context.Context, node string) (net.Conn, error)
	// Requests is how many requests a second this node runs for clients: the more there
	// are, the more a copy keeps out of their way. nil if that is not known.
	Requests func() float64
	// Leases are how this node takes part in leases; without them it always answers.
	Leases lease.Config
	// Absent tells, on the node that leads, which of the nodes are away. nil takes those
	// for absent that have asked for no lease for a while, and the others for long absent
	// whose last one is Rereplicate ago. It is called by one goroutine.
	Absent func() Absence
	// Rereplicate is how long a node may be away before others get its places; default
	// 30 s.
	Rereplicate time.Duration
	// Away tells whether a node does not seem to be there; nil if that is not known. What
	// lies here of a range whose members are all away is kept: it may be all that is left.
	Away func(node string) bool
	// Lineages keep what lies here of ranges that were made anew elsewhere; nil if nothing
	// is to be kept.
	Lineages Lineages
	// Sends and Receives are how many handoffs a node sends and receives at a time;
	// default 1.
	Sends, Receives int
	// Hold is how long requests for a range may wait at a cutover before it is put
	// off; default 50 ms.
	Hold time.Duration
	// Patience is how long a backup may leave something unacknowledged before it is
	// taken out of the sets; default 1 s.
	Patience time.Duration
	// MinInSync is how many members a set needs, with its primary, to take writes: with
	// fewer nothing is acknowledged. It may change. nil is 1.
	MinInSync func() int
	// Scrub is in how much time all that this node serves is compared with its backups; 0
	// compares only on request. It may change. nil is 0. Without leases nothing is
	// compared.
	Scrub func() time.Duration
	// Settle is how long the members must have stayed as they are before the leader
	// plans for them; default 1 s.
	Settle time.Duration
	// Linger is how long what lies here stays after it has lost its place, unless this
	// node gave it away itself: whoever was put out of a set may be back in a moment, and
	// then little has to travel; default 30 s.
	Linger time.Duration
	// Retry is the pause after something that failed; default 1 s.
	Retry  time.Duration
	Logger *slog.Logger
	// Reached is told of every step that this node comes to, by whoever makes it, which
	// may hold locks: it must not call the engine. nil is what all but tests want.
	Reached func(step.Step)

	rules rules.Set // that are left out
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Hold == 0 {
		c.Hold = 50 * time.Millisecond
	}
	if c.Patience == 0 {
		c.Patience = time.Second
	}
	if c.Rereplicate == 0 {
		c.Rereplicate = 30 * time.Second
	}
	if c.Away == nil {
		c.Away = func(string) bool { return false }
	}
	if c.Linger == 0 {
		c.Linger = 30 * time.Second
	}
	if c.MinInSync == nil {
		c.MinInSync = func() int { return 1 }
	}
	if c.Scrub == nil {
		c.Scrub = func() time.Duration { return 0 }
	}
	if c.Settle == 0 {
		c.Settle = time.Second
	}
	if c.Retry == 0 {
		c.Retry = time.Second
	}
	if c.Sends == 0 {
		c.Sends = 1
	}
	if c.Receives == 0 {
		c.Receives = 1
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
}

// Validate reports every fault.
func (c *Config) Validate() error {
	var faults []error
	if c.Self == "" || c.Incarnation == 0 {
		faults = append(faults, errors.New("replica: a node has an id and an incarnation"))
	}
	if c.Strategy == nil || c.Store == nil || c.Table == nil || c.Front == nil || c.Dial == nil || c.DialFeed == nil {
		faults = append(faults, errors.New("replica: strategy, store, table, front and dial are needed"))
	}
	if c.Sends < 0 || c.Receives < 0 {
		faults = append(faults, errors.New("replica: a number of handoffs at a time is negative"))
	}
	if c.Hold < 0 || c.Patience < 0 || c.Settle < 0 || c.Linger < 0 || c.Rereplicate < 0 || c.Retry < 0 {
		faults = append(faults, errors.New("replica: a time is negative"))
	}
	return errors.Join(append(faults, c.Leases.Validate())...)
}
