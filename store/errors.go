package store

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/store/internal/damage"
	"github.com/ringside-kv/ringside/store/internal/identity"
	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/pin"
	"github.com/ringside-kv/ringside/store/internal/refusal"
	"github.com/ringside-kv/ringside/store/internal/syncqueue"
	"github.com/ringside-kv/ringside/store/internal/tap"
)

// Errors of Open.
var (
	// ErrInUse: another process, or another Store, has the directory open.
	ErrInUse = identity.ErrInUse
	// ErrFormat: the directory was written by another version of the format.
	ErrFormat = identity.ErrFormat
	// ErrMismatch: the directory was created for another strategy or hash.
	ErrMismatch = identity.ErrMismatch
	// ErrDamaged: the directory holds less than was made durable.
	ErrDamaged = damage.Err
)

// Errors of units and scans.
var (
	// ErrReadOnly: the store accepts no writes at the moment; the error that
	// wraps it says why. Nothing was executed.
	ErrReadOnly = refusal.ErrReadOnly
	// ErrUnknown: a write was executed but could not be made durable, so that
	// it may or may not survive a crash.
	ErrUnknown = syncqueue.ErrUnknown
	// ErrClosed: the store has been closed.
	ErrClosed = tap.ErrClosed
	// ErrCrashed: the store was ended by [Store.Crash].
	ErrCrashed = errors.New("store was ended as by a crash")
	// ErrPassive: the key lies in a range that only follows another node's.
	ErrPassive = fmt.Errorf("%w: range is passive", ErrReadOnly)
	// ErrFollows: the key lies in a range that has followed another store since the unit began.
	// Nothing was changed.
	ErrFollows = errors.New("range has followed another store since the unit began")
	// ErrDuplicate: a collection cannot have the same element twice.
	ErrDuplicate = errors.New("element comes twice")
	// ErrNotWhole: the unit must stay whole, and there is no memory for the change: see
	// [Unit.KeepAbortable].
	ErrNotWhole = errors.New("no memory for what the unit changes")
	// ErrFrozen: commits are held back already, or a unit has applied a part of its changes only.
	ErrFrozen = pin.ErrFrozen
	// ErrCursor: no scan returns such a cursor.
	ErrCursor = errors.New("invalid cursor")
)

// Errors of ranges and what moves them.
var (
	// ErrBatch: a batch is malformed, or of another version.
	ErrBatch = ops.ErrMalformed
	// ErrGap: a batch does not follow what the receiver has.
	ErrGap = errors.New("batch does not follow what is here")
	// ErrLatched: a unit has held a latch of a range for long, and may go on to. Nothing was
	// changed. The key of the unit need not lie in the range: slices of tokens share latches.
	ErrLatched = errors.New("a unit that takes long holds a latch of the range")
	// ErrOverlap: a range overlaps one that is tapped.
	ErrOverlap = tap.ErrOverlap
	// ErrUnacked: the taps have not acknowledged a change in time. The change is kept and stays
	// unseen.
	ErrUnacked = tap.ErrUnacked
)
