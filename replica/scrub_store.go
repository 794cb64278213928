package replica

import (
	"context"
	"errors"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// ErrDamaged says that a store cannot read something that it holds.
var ErrDamaged = errors.New("the disk has damaged something")

// A ScrubStore is what the check of copies needs of a store. Two stores that follow the
// same changes hold the same, but not at the same moment.
type ScrubStore interface {
	// Digest describes up to so many entries of a range, from a place on that Unlike has
	// named, nil for the beginning. It takes about 1 MiB at most.
	Digest(r ring.Range, from []byte, entries int) ([]byte, error)
	// Unlike finds those parts of another store's digest in which this one may hold
	// something else, and where the digest ends: nil at the end of the range.
	DifferingSpans(r ring.Range, digest []byte) (parts []KeySpan, next []byte, err error)
	// Sums returns a hash for each of some parts of a range: equal on all stores whose keys
	// there that have not expired at a moment are equal.
	Sums(r ring.Range, parts []KeySpan, at time.Time) ([]uint64, error)
	// Watch counts changes from now on, for each of some parts of a range: it may count
	// those beside them, too.
	Watch(r ring.Range, parts []KeySpan) (ChangeCounter, error)
	// Check reads all that lies in a range. The error wraps ErrDamaged if that cannot be
	// done. pace is told how many bytes were read, and may take its time.
	Check(ctx context.Context, r ring.Range, pace func(bytes int)) error
	// Damaged are ranges in which something could not be read, and perhaps more.
	Damaged() []ring.Range
	// Discard removes, without reading it, all that lies in ranges, in which nobody writes
	// meanwhile, and that nobody follows. After an error nothing may be written there
	// before it has succeeded; one that wraps ErrDamaged says that the damage goes on in
	// a range beside them, which has to be discarded with them.
	Discard(ranges ...ring.Range) error
}

// A KeySpan is the entries of a range from a place up to another.
type KeySpan struct{ From, To []byte }

// A ChangeCounter counts changes.
type ChangeCounter interface {
	// Changes returns how many there were in each part: all that can be seen by then are
	// counted, and all that are counted can be seen, and were given to who follows.
	Changes() []uint64
	Close()
}
