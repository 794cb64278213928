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

// A Store is what the engine needs of the data.
type Store interface {
	// Tap hands every batch of changes in a range to sink, in the order of its keys'
	// changes, before their replies can leave. sink does not block. Until cancel has
	// returned sink may be called.
	Tap(r ring.Range, sink func(batch []byte)) (cancel func(), err error)
	// Copy hands live entries of a range to sink, from a cursor on (nil at first) and
	// about limit bytes of them, in one order with the batches of taps. A nil cursor
	// comes back at the end of the range.
	Copy(r ring.Range, from []byte, limit int, sink func(batch []byte)) (next []byte, err error)
	// Receive begins to take in what another store's tap and copy of a range hand over,
	// in that order. apply returns once a batch is as durable as the store's own writes.
	Receive(r ring.Range) (apply func(batch []byte) error, end func())
	// Drop removes all that lies in ranges, of which none is tapped.
	Drop(ranges ...ring.Range) error
	// Load tells what lies in a range.
	Load(r ring.Range) ring.Load
}

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
	if c.Hold < 0 || c.Settle < 0 || c.Retry < 0 {
		faults = append(faults, errors.New("replica: a time is negative"))
	}
	return errors.Join(faults...)
}
