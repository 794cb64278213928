package store

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"

	"github.com/cockroachdb/pebble/v2"
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

// ErrCursor: no scan returns such a cursor.
var ErrCursor = errors.New("invalid cursor")

func (c Cursor) place() Place { return Place(c) << cursorShift }

func cursorOf(p Place) Cursor { return Cursor(p >> cursorShift) }

// An Entry is one key that a scan has come by.
type Entry struct {
	Key  []byte // valid during the call only
	Type Type
}

// Scan calls visit for about count keys from a cursor on, in order of their
// places, and returns the cursor to go on from. It sees one state of the store.
func (s *Store) Scan(from Cursor, count int, visit func(Entry)) (Cursor, error) {
	if from >= cursorLimit {
		return 0, ErrCursor
	}
	now := s.now()
	iter, err := s.headers(from.place())
	if err != nil {
		return 0, err
	}
	next := Cursor(0)
	seen := 0
	last := from
	err = s.eachHeader(iter, func(p Place, key []byte, h *header) bool {
		if at := cursorOf(p); at != last {
			if seen >= count {
				next = at
				return false
			}
			last = at
		}
		seen++
		if !h.expired(now) {
			visit(Entry{key, h.typ})
		}
		return true
	})
	return next, err
}

// headers returns an iterator over data from a place on.
func (s *Store) headers(from Place) (*pebble.Iterator, error) {
	iter, err := s.db.NewIter(&pebble.IterOptions{
		LowerBound: binary.BigEndian.AppendUint64([]byte{kindData}, uint64(from)),
		UpperBound: []byte{kindData + 1},
	})
	if err != nil {
		return nil, s.readFailed(err)
	}
	return iter, nil
}

// eachHeader calls visit for each header of an iterator, until it returns false,
// and closes the iterator. Sub entries are passed over without being read.
func (s *Store) eachHeader(iter *pebble.Iterator, visit func(Place, []byte, *header) bool) error {
	var err error
	var skip []byte
	for ok := iter.First(); ok; {
		p, key, sub, splitErr := splitPlacedKey(iter.Key()[1:])
		if err = splitErr; err != nil {
			break
		}
		if len(sub) > 0 {
			skip = prefixEnd(append(skip[:0], iter.Key()[:len(iter.Key())-len(sub)]...))
			ok = iter.SeekGE(skip)
			continue
		}
		var h header
		if err = h.parse(iter.Value()); err != nil {
			break
		}
		if !visit(p, key, &h) {
			break
		}
		ok = iter.Next()
	}
	if err = errors.Join(err, iter.Error(), iter.Close()); err != nil {
		return s.readFailed(err)
	}
	return nil
}

// RandomKey returns a key, each about as likely as any other, or nil if there is
// none.
func (s *Store) RandomKey() ([]byte, error) {
	for range 8 {
		total := s.counts.keys.Load()
		if total <= 0 {
			return nil, nil
		}
		n := rand.Int64N(total)
		slice := 0
		for ; slice < len(s.counts.slices)-1; slice++ {
			if n -= s.counts.slices[slice].keys.Load(); n < 0 {
				break
			}
		}
		from := Place(slice)<<48 | Place(rand.Uint64N(1<<48))
		// From a random place on, then from the slice's start, then from
		// anywhere: the first live key.
		for _, from := range []Place{from, Place(slice) << 48, 0} {
			key, err := s.firstKey(from)
			if key != nil || err != nil {
				return key, err
			}
		}
	}
	return nil, nil
}

func (s *Store) firstKey(from Place) (found []byte, err error) {
	iter, err := s.headers(from)
	if err != nil {
		return nil, err
	}
	now := s.now()
	err = s.eachHeader(iter, func(_ Place, key []byte, h *header) bool {
		if !h.expired(now) {
			found = append([]byte{}, key...)
		}
		return found == nil
	})
	return found, err
}

// Stats are counts of a store, as of some moment during the call.
type Stats struct {
	Keys, Bytes, Expires int64
	Expired              int64 // keys removed because their time had come
	Commits              int64
	CacheHits            int64
	CacheMisses          int64
	CacheBytes           int64
	CacheLines           int64
	CacheSize            int64
	Fsyncs               int64
	FsyncSeconds         float64
	LogBytes             int64
	WriteStalls          int64
	Pebble               *pebble.Metrics
}

// Keys returns how many keys there are; those that have expired but are not yet
// removed are counted, as Redis does.
func (s *Store) Keys() int64 { return s.counts.keys.Load() }

// Stats returns the counts.
func (s *Store) Stats() Stats {
	size, lines := s.cache.usage()
	return Stats{
		Keys: s.counts.keys.Load(), Bytes: s.counts.bytes.Load(), Expires: s.counts.expires.Load(),
		Expired: s.expired.Load(), Commits: s.commitCount.Load(),
		CacheHits: s.cache.hits.Load(), CacheMisses: s.cache.misses.Load(),
		CacheBytes: size, CacheLines: lines, CacheSize: int64(len(s.cache.mem)),
		Fsyncs: s.wal.syncs.Load(), FsyncSeconds: float64(s.wal.syncNanos.Load()) / 1e9,
		LogBytes: s.wal.written.Load(), WriteStalls: s.stalls.Load(),
		Pebble: s.metrics(),
	}
}

// metrics returns Pebble's figures; once Pebble has stopped, which leaves its lock
// held, none.
func (s *Store) metrics() *pebble.Metrics {
	got := make(chan *pebble.Metrics, 1)
	go func() { got <- s.db.Metrics() }()
	select {
	case m := <-got:
		return m
	case <-s.fatal:
		return &pebble.Metrics{}
	}
}

// RangeSize returns the keys and bytes of all slices of 2¹⁶ tokens from first to
// last, both included.
func (s *Store) RangeSize(first, last uint16) (keys, size int64) {
	for i := int(first); i <= int(last); i++ {
		keys += s.counts.slices[i].keys.Load()
		size += s.counts.slices[i].bytes.Load()
	}
	return keys, size
}

// Clear removes every key. It takes the same time whatever the store holds; it
// waits for all units that hold latches. w is told when it is durable.
func (s *Store) Clear(w Waiter) error {
	s.latches.lockAll()
	defer s.latches.unlockAll()
	s.commits.Lock()
	defer s.commits.Unlock()
	if err := s.Writable(); err != nil {
		return err
	}
	s.counts.term++
	s.counts.number.Store(0)
	s.counts.entries.Store(0)
	b := s.db.NewBatch()
	for _, kind := range []byte{kindData, kindExpiry, kindGarbage, kindJournal} {
		_ = b.DeleteRange([]byte{kind}, []byte{kind + 1}, nil)
	}
	_ = b.Set(countKey, encodeNoCounts(s.counts.term), nil)
	for i := range s.latches {
		s.latches[i].version.Add(1)
	}
	err := s.db.ApplyNoSyncWait(b, pebble.Sync)
	if err == nil {
		s.counts.reset()
		s.cache.clear()
		number := s.settler.add(b, w)
		for i := range s.latches {
			s.latches[i].settled.Store(number)
		}
	}
	for i := range s.latches {
		s.latches[i].version.Add(1)
	}
	return err
}
