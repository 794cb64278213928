package orders

import (
	"context"

	"github.com/ringside-kv/ringside/internal/database"
)

// A PolicyChanger changes policies of databases in the agreed table. Its methods are called as those of
// [Operator].
type PolicyChanger interface {
	// Describe returns the policy of a database, as lines of a name and a value.
	Describe(n, data int) string
	// Begin begins to change the policy of a database: until End, nodes that know of it hold requests for
	// its keys. It returns the number of the change.
	Begin(ctx context.Context, n int) (change uint64, err error)
	// Move has a database get the other policy, from when the change that has begun ends. If it has keys, they move. It
	// fails if a node cannot do that.
	// made is false if the policy is to be changed by End.
	Move(ctx context.Context, data int, together, keys bool) (made bool, err error)
	// PauseMove has no key of data move until ResumeMove, or until that has not come for long. It returns the step
	// of the pause, and 0 if no key moves.
	PauseMove(ctx context.Context, data int) (pause uint64, err error)
	ResumeMove(ctx context.Context, data int, pause uint64) error
	// Leads reports whether the node leads the cluster.
	Leads() bool
	// Rate is how many bytes a second may move in the cluster; 0 is any number.
	Rate() int64
	// End ends a change with a policy, or, if that has the change, without a new one. It fails if the change has
	// ended already.
	End(ctx context.Context, change uint64, p database.Policy) error
}
