package feed

import "github.com/ringside-kv/ringside/ring"

// A Store is what a feed needs of the data. Its methods may be called at any time and from several
// goroutines.
type Store interface {
	// NewTap returns a tap without ranges; Retap gives it some. From then on sink receives every
	// change of these ranges with its number. Replies to the writer of a change, and to readers of
	// it, wait until the change is acknowledged.
	//
	// Numbers rise over all taps of the store, whose sinks are called one at a time. sink does not
	// block. It may keep the batch, but not change it nor append to it. pace is called, with no
	// lock held, before a unit that may change the ranges begins; it may block for a while.
	NewTap(sink func(number uint64, batch []byte), pace func()) Tap
	// Retap gives ranges to other taps and ends copies, at one moment in which at is called. No
	// change lies within that moment: each went to the tap before it or goes to the tap after it.
	// at must not block.
	//
	// Unacknowledged changes stay held until the tap that they went to acknowledges them. After an
	// error nothing has changed and at was not called: a tap was closed.
	Retap(moves []TapMove, end []Copy, at func()) error
	// ReceiveFeed starts to receive the changes of one start of another node.
	ReceiveFeed() IncomingFeed
}

// A Copy is a copy of a range that ends when the learner is fed.
type Copy interface{ Close() }

// A Tap receives the changes of its ranges. No range has two taps.
type Tap interface {
	// Acked says that all changes up to a number are acknowledged. It may be called from sink and
	// from any goroutine.
	Acked(number uint64)
	// Last returns the number of the newest change that sink received, 0 if none.
	Last() uint64
	// Close ends the tap. sink is not called after it returns. Replies that wait leave; with an
	// error they fail with it, and their outcome is unknown. Changes left open by such an error
	// stay hidden in ranges that other taps have by then, until they are acknowledged after all or
	// the tap is closed again without an error.
	Close(err error)
}

// A TapMove gives a range to a tap; nil: to none.
type TapMove struct {
	Range ring.Range
	To    Tap
}

// An IncomingFeed receives the changes of one start of another node. It belongs to one goroutine.
type IncomingFeed interface {
	// SetRanges says where changes may lie from now on; at first nowhere. Unfinished changes
	// elsewhere are forgotten.
	SetRanges([]ring.Range)
	// Apply applies batches in order, in as few units as possible. done is called once all are as
	// durable as the store's own writes, or have failed: from any goroutine, in any order, perhaps
	// before Apply returns. If Apply fails, some batches have not been applied, done is not called,
	// and the feed accepts nothing more.
	Apply(batches [][]byte, done func(error)) error
	// Cut returns the part of a batch that lies in ranges; nil if there is none.
	Cut(batch []byte, to []ring.Range) ([]byte, error)
	Close()
}
