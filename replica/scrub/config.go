package scrub

import (
	"context"
	"log/slog"
	"time"

	"github.com/ringside-kv/ringside/replica/internal/rules"
	"github.com/ringside-kv/ringside/replica/table"
	"github.com/ringside-kv/ringside/ring"
)

// Config is what a [Scrub] needs. All of it may be called from several goroutines.
type Config struct {
	Self        string
	Incarnation uint64
	Store       Store
	Table       Table
	Feed        Feed
	Ranges      Ranges
	Pacer       Pacer
	// Ask sends a question to the scrub of another node, which answers it with [Scrub.Answer]. nil
	// without leases: then nothing is compared.
	Ask func(ctx context.Context, node string, question *Request, answer *Reply) error
	// Away reports whether a node does not seem to be running.
	Away func(node string) bool
	// Interval is the interval in which all ranges of this node are compared; 0: only on request. It
	// may change.
	Interval func() time.Duration
	Done     <-chan struct{} // closed when the engine closes
	Logger   *slog.Logger
	Rules    rules.Set
}

// Table is what a scrub needs of the agreed table.
type Table interface {
	// State returns the newest state that this node has applied.
	State() *table.State
	// Apply has a command decided, and returns nil once this node has applied it.
	Apply(ctx context.Context, c table.Command) error
}

// Feed is what a scrub needs of the stream of changes to backups.
type Feed interface {
	// IsComplete reports whether all members of a row have joined it.
	IsComplete(row *table.Row) bool
	// WaitReceived returns once a backup has acknowledged all changes up to now.
	WaitReceived(ctx context.Context, node string) error
}

// Ranges is what a scrub needs of the node's ranges.
type Ranges interface {
	// PromoteTo makes a backup the primary of rows, whose sets this node leaves.
	PromoteTo(ctx context.Context, node string, rows []*table.Row) error
	// PublishRoutes brings the routes of clients up to date with the table.
	PublishRoutes()
	// Resigning reports whether the node is being stopped.
	Resigning() bool
	// AllCopiesAway reports whether no member of a row is running, as far as this node knows.
	AllCopiesAway(st *table.State, row *table.Row) bool
	// Discard removes all data in ranges in whose sets this node is not.
	Discard(ranges []ring.Range) error
}

// A Pacer keeps comparisons within the throttle and out of the way of clients.
type Pacer interface {
	// Wait returns how long to wait under a rate of bytes a second; 0: it may go on.
	Wait(rate int64) time.Duration
	// Spend records bytes that were read.
	Spend(bytes int64)
	// RestForClients waits in proportion to the duration of a step and the rate of requests.
	RestForClients(ctx context.Context, worked time.Duration)
}
