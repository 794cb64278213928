package replica

import (
	"errors"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/replica/scrub"
	"github.com/ringside-kv/ringside/ring"
)

// ErrOccupied says that a long unit keeps ranges from being copied or dropped for now. Nothing was
// changed.
var ErrOccupied = errors.New("a unit that takes long is in the way")

// A Store is what the engine needs of the data. Its methods may be called at any time and from
// several goroutines.
type Store interface {
	// StartCopies starts to copy ranges to another store, each on its own. Until its copy ends, sink
	// receives every change of the copied part of range i, in the order of each key's changes and
	// in one order with the batches of Step. It does not block and keeps the batch. pace is called,
	// with no lock held, before a unit that may change the ranges begins; it may block for a while.
	StartCopies(ranges []ring.Range, sink func(i int, batch []byte), pace func()) ([]OutgoingCopy, error)
	// EndCopies ends copies as their Close does, all at one moment.
	EndCopies(copies []OutgoingCopy)
	// ReceiveCopies starts to receive copies from another store.
	ReceiveCopies(ranges []ring.Range) []IncomingCopy
	// CloseCopies ends the receipt of copies.
	CloseCopies(copies []IncomingCopy)
	// SetOwned names the ranges that this node serves. All other data only follows other nodes.
	SetOwned(own []ring.Range)
	// Drop removes all data in ranges, of which none is being copied. It does not wait for long
	// units: ErrOccupied.
	Drop(ranges ...ring.Range) error
	// Writable returns why the store refuses writes; nil if it accepts them.
	Writable() error
	// LogHasFailed reports whether Writable fails for good, until the log is healed or the process restarts.
	LogHasFailed() bool
	// Stalled returns how long a write has waited for the disk; 0 if none waits.
	Stalled() time.Duration
	feed.Store
	scrub.Store
}

// An OutgoingCopy is a range that is being copied. It belongs to one goroutine.
type OutgoingCopy interface {
	// Ask returns the question that the receiver must answer before the next step; nil if there is
	// none.
	Ask() (question []byte)
	// Answer processes the receiver's answer. Another question may follow.
	Answer(answer []byte) error
	// Step copies about limit bytes of what the receiver lacks. done is true after the last step.
	// It does not wait for long units: ErrOccupied.
	Step(limit int) (done bool, err error)
	// Progress returns the keys and bytes that have been copied or were already there.
	Progress() (keys, bytes int64)
	// Close ends the copy. sink and pace are not called after it returns.
	Close()
}

// An IncomingCopy is a range that is being received. It belongs to one goroutine, except for End.
type IncomingCopy interface {
	// Apply applies a batch. done is called once the batch is as durable as the store's own writes,
	// or has failed: from any goroutine and in any order. If Apply fails, nothing was changed and
	// done is not called.
	Apply(batch []byte, done func(error)) error
	// Answer answers a question of the sender's OutgoingCopy.
	Answer(question []byte) (answer []byte, err error)
	// End ends the copy early, since this node serves the range from now on. After it returns,
	// nothing is applied any more, and no unit that begins then is refused because of the copy. It
	// may be called from any goroutine, beside the other methods and after CloseCopies.
	End()
}
