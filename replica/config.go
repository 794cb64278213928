package replica

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"time"

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
	// Quiesce returns once nothing runs any more that began under earlier routes.
	Quiesce(ctx context.Context) error
}

// Config of an [Engine].
type Config struct {
	Self        string
	Incarnation uint64
	Strategy    ring.Strategy
	Store       Store
	Table       Table
	Front       Front
	// Dial opens a connection to another node for a [Stream].
	Dial func(ctx context.Context, node string) (net.Conn, error)
	// Requests is how many requests a second this node runs for clients: the more there
	// are, the more a copy keeps out of their way. nil if that is not known.
	Requests func() float64
	// Sends and Receives are how many handoffs a node sends and receives at a time;
	// default 1.
	Sends, Receives int
	// Hold is how long requests for a range may wait at a cutover before it is put
	// off; default 50 ms.
	Hold time.Duration
	// Settle is how long the members must have stayed as they are before the leader
	// plans for them; default 1 s.
	Settle time.Duration
	// Retry is the pause after something that failed; default 1 s.
	Retry  time.Duration
	Logger *slog.Logger
}

// EnsureDefaults fills in what is not set.
func (c *Config) EnsureDefaults() {
	if c.Hold == 0 {
		c.Hold = 50 * time.Millisecond
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
	if c.Strategy == nil || c.Store == nil || c.Table == nil || c.Front == nil || c.Dial == nil {
		faults = append(faults, errors.New("replica: strategy, store, table, front and dial are needed"))
	}
	if c.Sends < 0 || c.Receives < 0 {
		faults = append(faults, errors.New("replica: a number of handoffs at a time is negative"))
	}
	if c.Hold < 0 || c.Settle < 0 || c.Retry < 0 {
		faults = append(faults, errors.New("replica: a time is negative"))
	}
	return errors.Join(faults...)
}
