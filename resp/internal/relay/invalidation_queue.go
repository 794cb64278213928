package relay

import "slices"

const (
	// maxQueued is how many bytes of keys may wait for a node; beyond, all keys are invalid.
	maxQueued = 4 << 20
	// keyCost is what a key takes beside its own bytes.
	keyCost = 64
	// maxAnswer is about how many bytes of keys one answer has.
	maxAnswer = 256 << 10
)

// An InvalidationQueue is what a node with tracking clients has not heard yet, numbered from 1 on. The
// zero value is empty. It is not safe for concurrent use.
type InvalidationQueue struct {
	last  uint64         // number of the newest
	items []Invalidation // numbered up to last
	bytes int            // of their keys
}

// Last returns the number of the newest invalidation, 0 if there was none.
func (q *InvalidationQueue) Last() uint64 { return q.last }

// Len returns how many invalidations the node has not heard.
func (q *InvalidationQueue) Len() int { return len(q.items) }

// Add appends that a key has changed. Author is as in [Invalidation].
func (q *InvalidationQueue) Add(author int64, key []byte) {
	if q.bytes += len(key) + keyCost; q.bytes > maxQueued {
		q.AddAll()
		return
	}
	q.last++
	q.items = append(q.items, Invalidation{Author: author, Key: slices.Clone(key)})
}

// AddAll appends that all keys may have changed: what the node was to hear before is part of that, so
// the next number it hears may follow a gap.
func (q *InvalidationQueue) AddAll() {
	q.last++
	q.items, q.bytes = append(q.items[:0], Invalidation{}), keyCost
}

// Heard takes away what the node has heard, up to a number.
func (q *InvalidationQueue) Heard(number uint64) {
	first := q.first()
	for len(q.items) > 0 && first <= number {
		q.bytes -= len(q.items[0].Key) + keyCost
		q.items = q.items[1:]
		first++
	}
	if len(q.items) == 0 {
		q.items, q.bytes = nil, 0
	}
}

func (q *InvalidationQueue) first() uint64 { return q.last - uint64(len(q.items)) + 1 }

// Append encodes what the node hears next, as [AppendInvalidations] does.
func (q *InvalidationQueue) Append(b []byte) []byte {
	n, size := 0, 0
	for n < len(q.items) && size < maxAnswer {
		size += len(q.items[n].Key) + keyCost
		n++
	}
	return AppendInvalidations(b, q.first(), q.items[:n])
}
