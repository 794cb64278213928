package scrub

import (
	"context"
	"errors"
	"time"

	"github.com/ringside-kv/ringside/ring"
)

// ErrDamaged says that a store cannot read some of its data.
var ErrDamaged = errors.New("the disk has damaged something")

// A Store is what a scrub needs of a store. Two stores that follow the same changes have the
// same data, but not at the same moment.
type Store interface {
	// Load returns the number of keys and bytes in a range.
	Load(r ring.Range) ring.Load
	// Digest describes up to entries entries of a range, from a position returned by
	// DifferingSpans; nil is the beginning. It is about 1 MiB at most.
	Digest(r ring.Range, from []byte, entries int) ([]byte, error)
	// DifferingSpans compares another store's digest with this store. It returns the key spans that
	// may differ, and where the digest ends: nil at the end of the range.
	DifferingSpans(r ring.Range, digest []byte) (parts []KeySpan, next []byte, err error)
	// Sums returns a hash for each key span. Stores whose unexpired keys are equal at a moment have
	// equal hashes.
	Sums(r ring.Range, parts []KeySpan, at time.Time) ([]uint64, error)
	// Watch starts to count changes in key spans. It may also count changes beside them.
	Watch(r ring.Range, parts []KeySpan) (ChangeCounter, error)
	// Check reads a whole range. The error wraps ErrDamaged if that is impossible. pace is called
	// with the number of bytes read, and may block.
	Check(ctx context.Context, r ring.Range, pace func(bytes int)) error
	// CheckTables is Check that also reads removed keys that are still in tables: damage there keeps tables from being
	// merged. What it can read is not among the damaged ranges any more.
	CheckTables(ctx context.Context, r ring.Range, pace func(bytes int)) error
	// Damaged returns ranges that could not be read, and perhaps more.
	Damaged() []ring.Range
	// Discard removes ranges without reading them. Nothing is written in them meanwhile, and they
	// have no tap. After an error nothing may be written there before a Discard has succeeded. An
	// error that wraps ErrDamaged says that the damage extends to a neighbouring range, which must
	// be discarded together with them.
	Discard(ranges ...ring.Range) error
}

// A KeySpan is the entries of a range from From up to To.
type KeySpan struct{ From, To []byte }

// A ChangeCounter counts changes.
type ChangeCounter interface {
	// Changes returns the number of changes in each key span: exactly those that are visible by
	// then, all of which have gone to their taps.
	Changes() []uint64
	Close()
}
