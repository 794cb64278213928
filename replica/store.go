package replica

import (
	"errors"
	"time"

	"github.com/ringside-kv/ringside/replica/feed"
	"github.com/ringside-kv/ringside/ring"
)

// ErrOccupied says that a unit which takes long keeps ranges from being copied or dropped for
// now. Nothing was changed.
var ErrOccupied = errors.New("a unit that takes long is in the way")

// A Store is what the engine needs of the data. Its methods may be called at any time
// and by several goroutines.
type Store interface {
	// Give begins to give a range to another store. From now on, until Close, sink is
	// given every change of what has been copied, in the order of each key's changes
	// and in one order with the batches of Step; it does not block and keeps the
	// batch. pace is called, with nothing held, before anything that may change the
	// range begins; it may block for a while.
	StartCopy(r ring.Range, sink func(batch []byte), pace func()) (OutgoingCopy, error)
	// Take begins to take in what another store gives.
	ReceiveCopy(r ring.Range) IncomingCopy
	// Serve says which ranges this node answers for: what lies in all others only
	// follows other nodes.
	SetOwned(own []ring.Range)
	// Drop removes all that lies in ranges, of which none is being given. It does not wait for
	// units that take long: ErrOccupied.
	Drop(ranges ...ring.Range) error
	// Load tells what lies in a range.
	Load(r ring.Range) ring.Load
	// Writable says why nothing can be taken in, nil if it can.
	Writable() error
	// Stalled is for how long a write has waited for the disk; 0 if none does.
	Stalled() time.Duration
	feed.Store
	ScrubStore
}

// An OutgoingCopy is a range that is being copied. It belongs to one goroutine.
type OutgoingCopy interface {
	// Ask returns what the receiver has to be asked before the next step, nil if
	// nothing.
	Ask() (question []byte)
	// Answer is given the receiver's answer to that. Then there may be another
	// question.
	Answer(answer []byte) error
	// Step copies about limit bytes of what the receiver lacks, and tells whether
	// that was the last. It does not wait for units that take long: ErrOccupied.
	Step(limit int) (done bool, err error)
	// Passed is how many keys and bytes have been copied, or were there already.
	Progress() (keys, bytes int64)
	// Close ends it. sink and pace are not called any more when it returns.
	Close()
}

// An IncomingCopy is a range that is being taken in. It belongs to one goroutine, but for Over.
type IncomingCopy interface {
	// Apply takes a batch in. done is called, by any goroutine and without an order,
	// when it is as durable as the store's own writes, or is not going to be. If Apply
	// fails, nothing has been done, and done is not called.
	Apply(batch []byte, done func(error)) error
	// Answer answers a question of an Outgoing of another store.
	Answer(question []byte) (answer []byte, err error)
	// Over ends it early, since this node serves the range from now on: once Over returns,
	// nothing is taken in any more, and no unit that begins then is refused for what was. Any
	// goroutine may call it, also beside the other methods and after Close.
	End()
	Close()
}
