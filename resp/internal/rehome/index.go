package rehome

import (
	"cmp"
	"slices"
	"sync"

	"github.com/ringside-kv/ringside/internal/database"
)

const (
	indexKeys  = 64 << 10 // that an index holds, twice at the most
	indexBytes = 16 << 20 // of their keys
)

// A keyAt is a stored key at a position.
type keyAt struct {
	at    uint64
	bytes int64 // of key and value
	key   string
}

// An Index has the keys of a database that is kept together in the order of their positions, as a store has those of
// one that is spread. It has all keys from a position on that were there when it was filled or have been written since,
// up to a bound that keeps it small. Some may not exist any more.
type Index struct {
	mu          sync.Mutex
	head        database.Head
	from, bound uint64
	filled      []keyAt
	written     map[string]uint64
	bytes       int64
}

// newIndex returns an empty index from a position on. Before it is filled, writes must be noted.
func newIndex(head database.Head, from uint64) *Index {
	return &Index{head: head, from: from, bound: database.End, written: make(map[string]uint64)}
}

// add adds a key that a scan has come by.
func (x *Index) add(k keyAt) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if k.at < x.from || k.at >= x.bound {
		return
	}
	x.filled = append(x.filled, k)
	if x.bytes += int64(len(k.key)); len(x.filled) >= 2*indexKeys || x.bytes > 2*indexBytes {
		x.shrink()
	}
}

// shrink lowers the bound so that the filled keys are not too many. The caller holds mu.
func (x *Index) shrink() {
	slices.SortFunc(x.filled, func(a, b keyAt) int { return cmp.Compare(a.at, b.at) })
	x.bytes = 0
	for i, k := range x.filled {
		x.bytes += int64(len(k.key))
		if i > 0 && k.at != x.filled[0].at && (i >= indexKeys || x.bytes > indexBytes) {
			x.lower(k.at)
			return
		}
	}
}

// lower sets the bound. The caller holds mu, and the filled keys are in order.
func (x *Index) lower(bound uint64) {
	x.bound = bound
	n, _ := slices.BinarySearchFunc(x.filled, bound, func(k keyAt, at uint64) int { return cmp.Compare(k.at, at) })
	clear(x.filled[n:])
	x.filled = x.filled[:n]
	x.bytes = 0
	for _, k := range x.filled {
		x.bytes += int64(len(k.key))
	}
	for key, at := range x.written {
		if at >= bound {
			delete(x.written, key)
		} else {
			x.bytes += int64(len(key))
		}
	}
}

// done ends the filling.
func (x *Index) done() {
	x.mu.Lock()
	x.shrink()
	x.mu.Unlock()
}

// note notes a key that was written.
func (x *Index) note(key []byte, at uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if at < x.from || at >= x.bound {
		return
	}
	if _, known := x.written[string(key)]; known {
		return
	}
	x.written[string(key)] = at
	if x.bytes += int64(len(key)); len(x.written) <= indexKeys && x.bytes <= 2*indexBytes {
		return
	}
	all := make([]uint64, 0, len(x.written))
	for _, at := range x.written {
		all = append(all, at)
	}
	slices.Sort(all)
	slices.SortFunc(x.filled, func(a, b keyAt) int { return cmp.Compare(a.at, b.at) })
	x.lower(max(all[len(all)/2], x.from))
}

// has reports whether the index has all keys of an interval.
func (x *Index) has(from, until uint64) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return from >= x.from && until <= x.bound
}

// next returns the keys from a position on, below another one, in order: so many of the filled ones at most, and all
// that were written among them. up is the position up to which there are no others.
func (x *Index) next(from, until uint64, most int) (keys []keyAt, up uint64) {
	x.mu.Lock()
	defer x.mu.Unlock()
	up = min(until, x.bound)
	at := func(k keyAt, at uint64) int { return cmp.Compare(k.at, at) }
	first, _ := slices.BinarySearchFunc(x.filled, from, at)
	last, _ := slices.BinarySearchFunc(x.filled, up, at)
	if last-first > most {
		up = x.filled[first+most].at
		if up == x.filled[first].at { // all are of one position
			up++
		}
		last, _ = slices.BinarySearchFunc(x.filled, up, at)
	}
	keys = slices.Clone(x.filled[first:last])
	for key, at := range x.written {
		if at >= from && at < up {
			keys = append(keys, keyAt{at: at, key: key})
		}
	}
	slices.SortFunc(keys, func(a, b keyAt) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.key, b.key)) })
	return slices.CompactFunc(keys, func(a, b keyAt) bool { return a.key == b.key }), up
}
