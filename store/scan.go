package store

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/cleaner"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// A Cursor is the first place that a scan has not visited yet: the token times
// 2²⁰, plus the top 20 bits of the order; 0 is start and end. It needs no state in
// a server, and any node can go on from it. It stays below 2⁵³, because some
// clients keep it in a double. All keys of one place come in one call; so a key
// that is there throughout is returned, whatever comes and goes beside it.
type Cursor uint64

const (
	cursorOrderBits = 20
	cursorLimit     = 1 << (32 + cursorOrderBits)
	cursorShift     = 32 - cursorOrderBits
)

func (c Cursor) place() Place { return Place(c) << cursorShift }

func cursorOf(p Place) Cursor { return Cursor(p >> cursorShift) }

// An Entry is one key that a scan has come by.
type Entry struct {
	Key    []byte // valid during the call only
	Type   Type
	Place  Place
	Expiry int64 // ms since 1970; 0: none
	Bytes  int64 // of key and value
}

// scanner reads keys in the order of the store, or at random.
type scanner struct{ s *Store }

// Scan calls visit for about count keys from a cursor on, in order of their
// places, and returns the cursor to go on from. It ends early when visit returns
// false, though not before it has come by all keys of that place. It sees each
// key as of some moment of the call, and not all of that may be durable: see AwaitAll.
func (sc *scanner) Scan(from Cursor, count int, visit func(Entry) bool) (Cursor, error) {
	if from >= cursorLimit {
		return 0, ErrCursor
	}
	return sc.s.view().scanUpTo(from, 0, count, visit)
}

// scanUpTo is Scan up to a cursor, which it then returns; 0 is the end of the circle.
func (v view) scanUpTo(from, to Cursor, count int, visit func(Entry) bool) (Cursor, error) {
	next := to
	seen := 0
	last := from
	err := v.each(from.place(), func(p Place, key []byte, h *layout.Header) bool {
		if at := cursorOf(p); at != last {
			if to != 0 && at >= to {
				return false
			}
			if seen >= count {
				next = at
				return false
			}
			last = at
		}
		seen++
		if !h.Expired(v.now) && !visit(Entry{key, h.Type, p, h.Expiry, int64(len(key)) + h.Size()}) {
			seen = count
		}
		return true
	})
	return next, err
}

// AwaitAll reports whether the caller must wait for what it has seen without a
// unit, in a scan or a count, to become durable. If so, w.Settled is called once
// everything is that was visible when AwaitAll was called; if not, w is not used.
func (s *Store) AwaitAll(w Waiter) (wait bool) {
	last := uint64(0)
	for i := range s.latches {
		l := &s.latches[i]
		// A commit under way can be seen before the sync queue knows of it.
		if l.IsCommitting() {
			l.Lock()
			last = max(last, l.LastCommit())
			l.Unlock()
		}
		if l.IsFollowing() {
			l.LockFollow()
			last = max(last, l.LastCommit())
			l.UnlockFollow()
		}
		last = max(last, l.LastCommit())
	}
	u := s.NewUnit()
	if taps := s.taps.Current(); taps != nil {
		u.unacked.SeeAll(taps, nil)
	}
	if s.syncs.IsDurable(last) && !u.isHeld() {
		return false
	}
	s.syncs.Add(u.awaitAcks(w))
	return true
}

// newIterFunc returns an iterator over data.
type newIterFunc func(*pebble.IterOptions) (*pebble.Iterator, error)

// eachFrom calls visit for each header from a place on, in order, until it returns false: as it is in a
// snapshot, or now with none.
func (sc *scanner) eachFrom(from Place, snapshot *pebble.Snapshot, visit func(Place, []byte, *layout.Header) bool) error {
	if snapshot == nil {
		return sc.eachByStretches(from, sc.s.cleaner.NewIter, visit)
	}
	_, err := sc.eachBetween(from, ^Place(0), snapshot.NewIter, visit)
	return err
}

// eachByStretches is eachFrom by iterators over more and more keys each, so that few dirty lines are cleaned for a
// reader of few keys.
func (sc *scanner) eachByStretches(from Place, newIter newIterFunc, visit func(Place, []byte, *layout.Header) bool) error {
	for keys := int64(leastStretch); ; keys *= 2 {
		last := sc.stretchEnd(from, keys)
		more, err := sc.eachBetween(from, last, newIter, visit)
		if err != nil || !more || last == ^Place(0) {
			return err
		}
		from = last + 1
	}
}

// eachBetween is eachFrom with one iterator up to a last place. It reports whether visit wants more.
func (sc *scanner) eachBetween(from, last Place, newIter newIterFunc, visit func(Place, []byte, *layout.Header) bool) (more bool, err error) {
	lower, upper := layout.Interval{First: from, Last: last}.Bounds(layout.KindData)
	iter, err := newIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return false, sc.s.readFailed(err)
	}
	more = true
	err = sc.eachHeader(iter, func(p Place, key []byte, h *layout.Header) bool {
		more = visit(p, key, h)
		return more
	})
	return more, err
}

// leastStretch is how many keys a reader of all keys reads at first with one iterator.
const leastStretch = 64

// stretchEnd returns the last place of the slices from one on that have so many keys.
func (sc *scanner) stretchEnd(from Place, keys int64) Place {
	if sc.s.cache.DirtyBytes() == 0 || sc.s.counts.Total().Keys <= keys {
		return ^Place(0)
	}
	for slice := int(layout.SliceOf(from)); slice < cleaner.LastSlice; slice++ {
		if keys -= sc.s.counts.KeysOf(uint16(slice)); keys <= 0 {
			return layout.SliceInterval(uint16(slice)).Last
		}
	}
	return ^Place(0)
}

// eachHeader calls visit for each header of an iterator, until it returns false,
// and closes the iterator. Sub entries are passed over without being read.
func (sc *scanner) eachHeader(iter *pebble.Iterator, visit func(Place, []byte, *layout.Header) bool) error {
	var err error
	var skip []byte
	for ok := iter.First(); ok; {
		p, key, sub, splitErr := layout.SplitPlacedKey(iter.Key()[1:])
		if err = splitErr; err != nil {
			break
		}
		if len(sub) > 0 {
			skip = layout.PrefixEnd(append(skip[:0], iter.Key()[:len(iter.Key())-len(sub)]...))
			ok = iter.SeekGE(skip)
			continue
		}
		var h layout.Header
		if err = h.Parse(iter.Value()); err != nil {
			break
		}
		if !visit(p, key, &h) {
			break
		}
		ok = iter.Next()
	}
	if err = errors.Join(err, iter.Error(), iter.Close()); err != nil {
		return sc.s.readFailed(err)
	}
	return nil
}

// isEmpty reports whether there is no key at all, not even an expired one.
func (sc *scanner) isEmpty() (bool, error) {
	empty := true
	err := sc.eachFrom(0, nil, func(Place, []byte, *layout.Header) bool {
		empty = false
		return false
	})
	return empty, err
}
