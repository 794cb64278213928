package feed

import "github.com/ringside-kv/ringside/ring"

// A feedStore is what a feed needs of the data. Its methods may be called at any time and by
// several goroutines.
type Store interface {
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
	Retap(moves []TapMove, end []Copy, at func()) error
	// TakeFeed begins to take in what one start of another node gives of its ranges.
	ReceiveFeed() IncomingFeed
}

// A FeedCopy is a copy of a range that ends when the learner is fed.
type Copy interface{ Close() }

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
