package replica

import "github.com/ringside-kv/ringside/ring"

// A Store is what the engine needs of the data. Its methods may be called at any time
// and by several goroutines.
type Store interface {
	// Give begins to give a range to another store. From now on, until Close, sink is
	// given every change of what has been copied, in the order of each key's changes
	// and in one order with the batches of Step; it does not block and keeps the
	// batch. pace is called, with nothing held, before anything that may change the
	// range begins; it may block for a while.
	Give(r ring.Range, sink func(batch []byte), pace func()) (Outgoing, error)
	// Take begins to take in what another store gives.
	Take(r ring.Range) Incoming
	// Serve says which ranges this node answers for: what lies in all others only
	// follows other nodes.
	Serve(own []ring.Range)
	// Drop removes all that lies in ranges, of which none is being given.
	Drop(ranges ...ring.Range) error
	// Load tells what lies in a range.
	Load(r ring.Range) ring.Load
	// Writable says why nothing can be taken in, nil if it can.
	Writable() error
}

// An Outgoing is a range that is being copied. It belongs to one goroutine.
type Outgoing interface {
	// Ask returns what the receiver has to be asked before the next step, nil if
	// nothing.
	Ask() (question []byte)
	// Answer is given the receiver's answer to that. Then there may be another
	// question.
	Answer(answer []byte) error
	// Step copies about limit bytes of what the receiver lacks, and tells whether
	// that was the last.
	Step(limit int) (done bool, err error)
	// Passed is how many keys and bytes have been copied, or were there already.
	Passed() (keys, bytes int64)
	// Close ends it. sink and pace are not called any more when it returns.
	Close()
}

// An Incoming is a range that is being taken in. It belongs to one goroutine.
type Incoming interface {
	// Apply takes a batch in. done is called, by any goroutine and without an order,
	// when it is as durable as the store's own writes, or is not going to be. If Apply
	// fails, nothing has been done, and done is not called.
	Apply(batch []byte, done func(error)) error
	// Answer answers a question of an Outgoing of another store.
	Answer(question []byte) (answer []byte, err error)
	Close()
}
