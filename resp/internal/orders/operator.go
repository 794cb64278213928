package orders

import (
	"context"

	"github.com/ringside-kv/ringside/internal/agreed"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/vnode"
)

// An Operator carries out what an operator orders of the cluster. Its methods are
// called by connections' goroutines, several at once, with a context that ends with the
// connection, the server or the time that an order may take; they return once the order is
// accepted, not once it is carried out. An error wraps agreed.ErrUnknown if the order may take effect.
type Operator interface {
	// Ordered notes, for RING DECISIONS, which user gave an order that was accepted.
	Ordered(ctx context.Context, user, order string)
	// Plan tells what would move, for people to read.
	Plan(ctx context.Context, c Change) (string, error)
	// Decisions tells the newest decisions of the cluster, up to n, for people to read.
	Decisions(ctx context.Context, n int) (string, error)
	// Strategy tells the strategy, its settings and the progress of a switch, as lines of a name
	// and a value.
	Strategy(ctx context.Context) (string, error)
	// Switch has the cluster placed by another strategy, or with other settings, of which each is
	// a name and a value.
	Switch(ctx context.Context, name string, settings []string) error
	// BalanceLoad sets load balancing to on or off, or evens the load once. Without a mode it describes
	// the setting, as lines of a name and a value.
	BalanceLoad(ctx context.Context, mode string) (string, error)
	// Leave has this node hand over what it has, and then end.
	Leave(ctx context.Context) error
	// Forget takes a node that will not come back out of the cluster.
	Forget(ctx context.Context, node string) error
	// Pause stops the moving of data, Resume lets it go on.
	Pause(ctx context.Context) error
	Resume(ctx context.Context) error
	// Throttle bounds the moving of data to so many bytes a second; 0 is no bound.
	Throttle(ctx context.Context, bytes int64) error
	// Backups keeps so many copies of each range beside the primary.
	Backups(ctx context.Context, n int) error
	// Backup carries out RING BACKUP, and returns its reply.
	Backup(ctx context.Context, words []string, gone <-chan struct{}) ([]byte, error)
	// Databases raises the number of databases.
	Databases(ctx context.Context, n int) error
	// Policies returns what changes the policies of databases.
	Policies() (PolicyChanger, error)
	// Agree changes values that the nodes agree on, all or none, and returns them as this node knows them then.
	// The error wraps agreed.ErrChanged if one is not of the version that the change names.
	Agree(ctx context.Context, changes []agreed.Change) (*agreed.Values, error)
	// Scrub has all nodes compare what they serve with their backups, at once.
	Scrub(ctx context.Context) error
	// Recreate makes empty ranges where no copy is left, or, without any, all of
	// which there is none: empty, or, with from, from that node's copy that was put out
	// of the set.
	Recreate(ctx context.Context, ranges []ring.Range, from string) error
	// Pin picks a node's points by hand (strategy vnode).
	Pin(ctx context.Context, pins vnode.Pins) error
}
