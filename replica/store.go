package replica

import (
	"errors"
	"time"

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
	// Follow returns what holds ranges, at first none; Retap gives it some. From then
	// on sink is given every change of them with its number, and the replies of whoever
	// wrote it, or reads it, wait until it is acknowledged.
	//
	// Numbers rise from call to call of the sinks of all that follow this store, of
	// which one is called at a time. sink does not block and may keep the batch, but
	// not change it, nor append to it. pace is as for Give.
	NewTap(sink func(number uint64, batch []byte), pace func()) Tap
	// Retap gives ranges to who follows them from now on, and ends copies, at one
	// moment in which at is called: no change lies within it, so that each was given
	// before by what was, or will be by what is. at must not block.
	//
	// What was given already and is not acknowledged stays held until it is, by whom it
	// was given to. With
	// an error, since one that should follow was closed, nothing has changed and at was
	// not called.
	Retap(moves []TapMove, end []OutgoingCopy, at func()) error
	// TakeFeed begins to take in what one start of another node gives of its ranges.
	ReceiveFeed() IncomingFeed
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

// A Tap is given the changes of ranges, which no other one is.
type Tap interface {
	// Acked says that everything up to a number is wherever it must be. It may be
	// called from sink, and by any goroutine.
	Acked(number uint64)
	// Last returns the number of the newest change that sink was given, 0 if none.
	Last() uint64
	// Close ends it; sink is not called any more when it returns. Replies that wait for
	// it leave, or with an error fail with that, and their outcome is unknown. What
	// such an error left open stays unseen in ranges that others follow by then, until it
	// is acknowledged after all, or closed again without one.
	Close(err error)
}

// TapMove is a range and who follows it from now on; nil: nobody.
type TapMove struct {
	Range ring.Range
	To    Tap
}

// An IncomingFeed is what one start of another node gives. It belongs to one goroutine.
type IncomingFeed interface {
	// SetRanges says where changes may lie from now on; at first nowhere. What was
	// begun and not finished elsewhere is forgotten.
	SetRanges([]ring.Range)
	// Apply takes batches in, in order, in as few units as can be. done is called, by
	// any goroutine and without an order, perhaps before Apply returns, when all are as
	// durable as the store's own writes, or are not going to be. If Apply fails, batches from some one on have not
	// been applied, done is not called, and the feed takes nothing more.
	Apply(batches [][]byte, done func(error)) error
	// Cut returns that part of a batch which lies in some ranges, nil if none does.
	Cut(batch []byte, to []ring.Range) ([]byte, error)
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
