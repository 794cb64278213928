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
	// State returns the newest state that this node has applied.
	State() *table.State
	// Changes returns a channel that receives after each change of the state, until cancel is
	// called.
	Changes() (changes <-chan struct{}, cancel func())
	// Apply has a command decided. It returns nil once this node has applied the command. A refusal
	// wraps one of package table's reasons; after any other error the outcome is unknown.
	Apply(ctx context.Context, c table.Command) error
	// Leads reports whether this node leads the Raft group.
	Leads() bool
}

// A Front answers clients.
type Front interface {
	// Route makes the front serve by a placement, except in held ranges.
	Route(p *ring.Placement, held func(ring.Range) bool)
	// Quiesce returns once no unit that began under earlier routes runs on ranges. If ctx ends
	// first, it returns the ranges on which units still run.
	Quiesce(ctx context.Context, ranges []ring.Range) (occupied []ring.Range, err error)
}

// Lineages record which lineage the data of a node belongs to. Its methods are called by one
// goroutine at a time.
type Lineages interface {
	// SetLineage records durably that the data in a range is of a lineage.
	SetLineage(r ring.Range, lineage uint64) error
	// SetAside saves the data in a range that is of another lineage, durably, and reports whether
	// there was any.
	SetAside(r ring.Range, lineage uint64) (any bool, err error)
}

// Config is what an [Engine] needs.
type Config struct {
	Self        string
	Incarnation uint64
	// Copied says that the node's directory is a copy whose original may be running. Once this
	// start is registered, the original gets no lease; the engine asks for none before the
	// original's last lease has expired.
	Copied   bool
	Strategy ring.Strategy
	Store    Store
	Table    Table
	Front    Front
	// Dial opens a connection to another node for a stream.
	Dial func(ctx context.Context, node string) (net.Conn, error)
	// DialFeed opens a connection to [Engine.ServeFeed] of another node.
	DialFeed func(ctx context.Context, node string) (net.Conn, error)
	// Requests returns the rate of client requests per second. Copies rest in proportion to it. nil
	// if unknown.
	Requests func() float64
	// Leases says how this node takes part in leases. Without leases it always answers.
	Leases lease.Config
	// Absent returns the nodes that are away, on the leader. If nil, a node is absent that has
	// asked for no lease for a while, and long absent after Rereplicate. It is called by one
	// goroutine.
	Absent func() Absence
	// Rereplicate is how long a node may be away before other nodes get its copies; default 30 s.
	Rereplicate time.Duration
	// Away reports whether a node does not seem to be running; nil if unknown. Data of a range
	// whose members are all away is kept, since no other copy may be left.
	Away func(node string) bool
	// Lineages saves data of ranges that were recreated elsewhere; nil if nothing is to be saved.
	Lineages Lineages
	// Sends and Receives are the numbers of handoffs that a node sends and receives at a time;
	// default 1.
	Sends, Receives int
	// Hold is how long a cutover may hold requests before it is put off; default 50 ms.
	Hold time.Duration
	// Patience is how long a backup may leave a frame unacknowledged before it is released; default
	// 1 s.
	Patience time.Duration
	// MinInSync is how many members a set needs to acknowledge writes, the primary included. It may
	// change. nil is 1.
	MinInSync func() int
	// Scrub is the interval in which all ranges of this node are compared with their backups; 0:
	// only on request. It may change. nil is 0. Without leases nothing is compared.
	Scrub func() time.Duration
	// Settle is how long the members must be unchanged before the leader plans for them; default 1
	// s.
	Settle time.Duration
	// Linger is how long data stays after this node has lost its place in a range, unless it handed
	// the range over itself; default 30 s. A node that left a set often returns soon, and then
	// little has to travel.
	Linger time.Duration
	// Retry is the pause after a failure; default 1 s.
	Retry  time.Duration
	Logger *slog.Logger
	// Reached is called at every step that this node reaches, perhaps with locks held, so it must
	// not call the engine. Only tests set it.
	Reached func(step.Step)

	rules rules.Set // disabled in tests
}

// EnsureDefaults sets the fields that are unset.
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
