package table

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/replica/table/internal/checked"
)

// Why a command was refused. A refused command has changed nothing.
var (
	// ErrFounded: the cluster is there already.
	ErrFounded = errors.New("the cluster is founded already")
	// ErrNotFounded: there is no cluster yet, so nothing but Found makes sense.
	ErrNotFounded = errors.New("no cluster is founded yet")
	// ErrInvalid: the command contradicts itself, whatever the table says.
	ErrInvalid = errors.New("invalid command")
	// ErrStale: a range is not of the lineage, epoch, version or bounds that the
	// command was made for. Read the table again.
	ErrStale = errors.New("the range has changed")
	// ErrIncarnation: the command speaks of another start of a node than the one
	// that is registered.
	ErrIncarnation = errors.New("not the registered start of the node")
	// ErrUnknownNode: the node was never registered, or is gone.
	ErrUnknownNode = errors.New("unknown node")
	// ErrNodeState: the node's role or state does not allow it.
	ErrNodeState = errors.New("the node's role or state does not allow it")
	// ErrCopies: the node still has copies.
	ErrCopies = errors.New("the node still has copies")
	// ErrLastStore: no node would be left to hold the data.
	ErrLastStore = errors.New("no other store is left")
	// ErrTooMany: the table has no room for more nodes or ranges.
	ErrTooMany = errors.New("too many")
	// ErrNotLearner: the node does not receive a copy of the range.
	ErrNotLearner = errors.New("the node is not a learner of the range")
	// ErrNotInSync: the node is not an in-sync backup of the range.
	ErrNotInSync = errors.New("the node is not an in-sync backup of the range")
	// ErrHasCopy: the node is in the range's set, or learns, already.
	ErrHasCopy = errors.New("the node has a place in the range already")
	// ErrBusy: the range has an operation in progress or learners.
	ErrBusy = errors.New("the range has an operation in progress")
	// ErrBounds: a range cannot be cut there, or ranges cannot be merged.
	ErrBounds = errors.New("no such change of bounds")
	// ErrOldPlan: the table has changed since the plan was made.
	ErrOldPlan = errors.New("the plan was made from an older table")
	// ErrHandoff: there is no such handoff, or it does not carry the range.
	ErrHandoff = errors.New("no such handoff")
	// ErrPhase: the handoff is not in the phase that the command was made for, or
	// cannot go to that phase.
	ErrPhase = errors.New("not the phase of the handoff")
	// ErrTerm: the command held only in another term of the leader's office.
	ErrTerm = errors.New("not the term of the leader's office")
)

// ErrStuck reports that an entry of the table takes far too long to be applied. The node does
// not follow the table until it is applied.
var ErrStuck = errors.New("the table is not applied")

// refusals gives each reason its number in replies between nodes: its place, which
// must never change.
var refusals = []error{
	ErrFounded, ErrNotFounded, ErrInvalid, ErrStale, ErrIncarnation, ErrUnknownNode,
	ErrNodeState, ErrCopies, ErrLastStore, ErrTooMany, ErrNotLearner, ErrNotInSync,
	ErrHasCopy, ErrBusy, ErrBounds, ErrOldPlan, ErrHandoff, ErrPhase, ErrTerm,
}

// Errors of what is read from bytes.
var (
	// ErrMalformed: the bytes are no command, snapshot or reply.
	ErrMalformed = errors.New("malformed")
	// ErrDamaged: a file of the table does not hold what was written to it.
	ErrDamaged = checked.ErrDamaged
	// ErrBroken: a state contradicts itself; see State.Check.
	ErrBroken = errors.New("broken invariant")
)

// Errors of a running [Table].
var (
	// ErrClosed: the table has been closed.
	ErrClosed = errors.New("table is closed")
	// ErrNoLeader: no leader is known, and nothing was proposed.
	ErrNoLeader = errors.New("no leader")
	// ErrUnknownOutcome: the command was proposed, and whether it will be applied is
	// not known. It must not simply be proposed again: the table tells.
	ErrUnknownOutcome = errors.New("unknown outcome")
	// ErrConfig: a Config has faults.
	ErrConfig = errors.New("bad configuration")
)

// IsRefused reports whether a command was decided and refused, so that it has changed
// nothing and never will.
func IsRefused(err error) bool {
	for _, r := range refusals {
		if errors.Is(err, r) {
			return true
		}
	}
	return false
}

func refuse(why error, format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{why}, args...)...)
}
