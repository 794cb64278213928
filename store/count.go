package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Counts of keys and bytes for each slice of 2¹⁶ tokens, kept as writes go by.
//
// A crash must not make them wrong, and writing a changed count with each commit
// would double the work of a SET. So each commit that changes any count carries
// one journal entry with its changes (overwriting a value by one of the same
// length changes none), under a key of its own. Now and then, and when the store
// is closed, all counts are written as one entry and the journal before it is
// removed; opening reads that entry and adds what the journal has since.
//
// The journal's keys begin with a term. A checkpoint starts a new term while no
// commit is on its way, so that the counts it has copied are exactly the sum of
// all terms before.
type counts struct {
	slices  [1 << 16]sliceCount
	keys    atomic.Int64
	bytes   atomic.Int64
	expires atomic.Int64 // keys with an expiry

	term    uint32        // changed with Store.commits locked
	number  atomic.Uint64 // next journal entry of the term
	entries atomic.Int64  // journal entries since the last checkpoint
	// oldest is the first term of which the journal may still hold entries. It is
	// changed with Store.checkpoints locked.
	oldest uint32
	// removed is told of bytes that go from a slice.
	removed func(slice uint16, bytes int64)
	// certain has a bit for each slice whose count of keys is known to be right, because
	// the slice was seen or made empty since the store was opened. What was recovered may
	// be an estimate, if the disk had damaged something. Guarded by Store.commits, locked
	// for writing.
	certain [1 << 16 / 64]uint64
}

func (c *counts) isCertain(slice uint16) bool { return c.certain[slice/64]&(1<<(slice%64)) != 0 }

func (c *counts) setCertain(slice uint16, certain bool) {
	if certain {
		c.certain[slice/64] |= 1 << (slice % 64)
	} else {
		c.certain[slice/64] &^= 1 << (slice % 64)
	}
}

// beginTerm begins a new term of the journal; Store.commits is locked.
func (c *counts) beginTerm() {
	c.term++
	c.number.Store(0)
	c.entries.Store(0)
}

// dropJournal adds to a batch the deletion of the journal before the present term. The
// caller sets oldest once the batch has been committed: so no deletion of the journal
// overlaps another one, since overlapping range tombstones of one memtable cost the square
// of their number.
func (c *counts) dropJournal(b *pebble.Batch) {
	_ = b.DeleteRange(journalKey(nil, c.oldest, 0), journalKey(nil, c.term, 0), nil)
}

type sliceCount struct{ keys, bytes, expires atomic.Int64 }

// checkpointEvery bounds what opening has to read of the journal.
const checkpointEvery = 200_000

// A countDelta is what one change does to the counts.
type countDelta struct {
	slice   uint16
	expires int8
	keys    int8
	bytes   int64
}

// appendDelta adds a change behind others. It goes into the last one if that is of the same
// slice, as those of many commands on one key are.
func appendDelta(deltas []countDelta, d countDelta) []countDelta {
	if n := len(deltas); n > 0 && deltas[n-1].slice == d.slice {
		last := &deltas[n-1]
		keys, expires := int(last.keys)+int(d.keys), int(last.expires)+int(d.expires)
		if keys == int(int8(keys)) && expires == int(int8(expires)) {
			d = countDelta{slice: d.slice, keys: int8(keys), expires: int8(expires), bytes: last.bytes + d.bytes}
			deltas = deltas[:n-1]
		}
	}
	if d.keys == 0 && d.bytes == 0 && d.expires == 0 {
		return deltas
	}
	return append(deltas, d)
}

func (c *counts) add(d countDelta) {
	s := &c.slices[d.slice]
	if d.keys != 0 {
		s.keys.Add(int64(d.keys))
		c.keys.Add(int64(d.keys))
	}
	if d.bytes != 0 {
		s.bytes.Add(d.bytes)
		c.bytes.Add(d.bytes)
		if d.bytes < 0 && c.removed != nil {
			c.removed(d.slice, -d.bytes)
		}
	}
	if d.expires != 0 {
		s.expires.Add(int64(d.expires))
		c.expires.Add(int64(d.expires))
	}
}

func (c *counts) reset() {
	for i := range c.slices {
		c.slices[i].keys.Store(0)
		c.slices[i].bytes.Store(0)
		c.slices[i].expires.Store(0)
	}
	c.keys.Store(0)
	c.bytes.Store(0)
	c.expires.Store(0)
	for i := range c.certain {
		c.certain[i] = ^uint64(0)
	}
}

func journalKey(dst []byte, term uint32, n uint64) []byte {
	dst = append(dst, layout.KindJournal)
	dst = binary.BigEndian.AppendUint32(dst, term)
	return binary.BigEndian.AppendUint64(dst, n)
}

// appendDeltas encodes what a journal entry holds: per delta the slice (2 B), then
// keys, expires and bytes as varints.
func appendDeltas(dst []byte, deltas []countDelta) []byte {
	for _, d := range deltas {
		dst = binary.BigEndian.AppendUint16(dst, d.slice)
		dst = binary.AppendVarint(dst, int64(d.keys))
		dst = binary.AppendVarint(dst, int64(d.expires))
		dst = binary.AppendVarint(dst, d.bytes)
	}
	return dst
}

var errCounts = errors.New("malformed counts")

func readVarints(b []byte, dst ...*int64) ([]byte, error) {
	for _, p := range dst {
		n, w := binary.Varint(b)
		if w <= 0 {
			return nil, errCounts
		}
		*p, b = n, b[w:]
	}
	return b, nil
}

func (c *counts) addEncoded(b []byte) error {
	for len(b) > 0 {
		if len(b) < 2 {
			return errCounts
		}
		slice := binary.BigEndian.Uint16(b)
		var keys, expires, size int64
		var err error
		if b, err = readVarints(b[2:], &keys, &expires, &size); err != nil {
			return err
		}
		c.add(countDelta{slice, int8(expires), int8(keys), size})
	}
	return nil
}

var countKey = []byte{layout.KindCount}

// encode appends the term from which on the journal counts, the keys with an
// expiry, then slice, keys and bytes of each slice that has any.
func (c *counts) encode(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(c.term))
	dst = binary.AppendVarint(dst, c.expires.Load())
	for i := range c.slices {
		keys, size := c.slices[i].keys.Load(), c.slices[i].bytes.Load()
		if keys != 0 || size != 0 {
			dst = binary.AppendVarint(dst, int64(i))
			dst = binary.AppendVarint(dst, keys)
			dst = binary.AppendVarint(dst, size)
		}
	}
	return dst
}

// expiresKey holds what countKey lacks, which came first: the term, then slice and
// keys with an expiry of each slice that has any. It counts only under the term of
// countKey, since a program that does not know it leaves it behind.
var expiresKey = []byte{layout.KindCount, 'e'}

func (c *counts) encodeExpires(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(c.term))
	for i := range c.slices {
		if n := c.slices[i].expires.Load(); n != 0 {
			dst = binary.AppendVarint(dst, int64(i))
			dst = binary.AppendVarint(dst, n)
		}
	}
	return dst
}

func (c *counts) decodeExpires(b []byte) (ok bool, err error) {
	var term int64
	if b, err = readVarints(b, &term); err != nil || uint32(term) != c.term {
		return false, err
	}
	for len(b) > 0 {
		var slice, n int64
		if b, err = readVarints(b, &slice, &n); err != nil {
			return false, err
		}
		if slice < 0 || slice >= int64(len(c.slices)) {
			return false, errCounts
		}
		c.slices[slice].expires.Store(n)
	}
	return true, nil
}

// loadExpires reads the keys with an expiry of each slice. ok is false if nobody has
// written them down.
func (c *counts) loadExpires(db *pebble.DB) (ok bool, err error) {
	value, closer, err := db.Get(expiresKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return c.expires.Load() == 0, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = closer.Close() }()
	return c.decodeExpires(value)
}

// countExpires takes the keys with an expiry of each slice from the index.
func (c *counts) countExpires(db *pebble.DB) error {
	for i := range c.slices {
		c.slices[i].expires.Store(0)
	}
	iter, err := db.NewIter(&pebble.IterOptions{LowerBound: []byte{layout.KindExpiry}, UpperBound: []byte{layout.KindExpiry + 1}})
	if err != nil {
		return err
	}
	for iter.First(); iter.Valid(); iter.Next() {
		if k := iter.Key(); len(k) > 9+layout.PlaceSize {
			c.slices[binary.BigEndian.Uint16(k[9:])].expires.Add(1)
		}
	}
	return errors.Join(iter.Error(), iter.Close())
}

// encodeNoCounts is encode for a store that has just been emptied.
func encodeNoCounts(term uint32) []byte {
	return binary.AppendVarint(binary.AppendVarint(nil, int64(term)), 0)
}

// load reads the counts of a store that is being opened.
func (c *counts) load(db *pebble.DB) error {
	value, closer, err := db.Get(countKey)
	if err == nil {
		err = c.decode(value)
		_ = closer.Close()
	} else if errors.Is(err, pebble.ErrNotFound) {
		err = nil
	}
	if err != nil {
		return fmt.Errorf("read counts: %w", err)
	}
	perSlice, err := c.loadExpires(db)
	if err != nil {
		return fmt.Errorf("read counts: %w", err)
	}
	iter, err := db.NewIter(&pebble.IterOptions{
		LowerBound: journalKey(nil, c.term, 0),
		UpperBound: []byte{layout.KindJournal + 1},
	})
	if err != nil {
		return fmt.Errorf("read counts: %w", err)
	}
	last := c.term
	for iter.First(); iter.Valid(); iter.Next() {
		if len(iter.Key()) != 13 {
			err = errCounts
			break
		}
		last = binary.BigEndian.Uint32(iter.Key()[1:])
		c.entries.Add(1)
		if err = c.addEncoded(iter.Value()); err != nil {
			break
		}
	}
	err = errors.Join(err, iter.Error(), iter.Close())
	if err == nil && !perSlice {
		err = c.countExpires(db)
	}
	if err != nil {
		return fmt.Errorf("read counts: %w", err)
	}
	c.term = last + 1 // numbers start anew
	return nil
}

func (c *counts) decode(b []byte) error {
	var term, expires int64
	b, err := readVarints(b, &term, &expires)
	if err != nil {
		return err
	}
	c.term = uint32(term)
	c.expires.Store(expires)
	for len(b) > 0 {
		var slice, keys, size int64
		if b, err = readVarints(b, &slice, &keys, &size); err != nil {
			return err
		}
		if slice < 0 || slice >= int64(len(c.slices)) {
			return errCounts
		}
		c.slices[slice].keys.Store(keys)
		c.slices[slice].bytes.Store(size)
		c.keys.Add(keys)
		c.bytes.Add(size)
	}
	return nil
}

// checkpointCounts writes all counts and removes the journal before them.
func (s *Store) checkpointCounts() error {
	s.checkpoints.Lock()
	defer s.checkpoints.Unlock()
	c := &s.counts
	s.commits.Lock()
	c.beginTerm()
	encoded, expires := c.encode(nil), c.encodeExpires(nil)
	s.commits.Unlock()

	b := s.db.NewBatch()
	defer func() { _ = b.Close() }()
	_ = b.Set(countKey, encoded, nil)
	_ = b.Set(expiresKey, expires, nil)
	c.dropJournal(b) // the term changes with checkpoints locked alone
	if err := s.tidy(b, pebble.Sync); err != nil {
		return fmt.Errorf("write counts: %w", err)
	}
	c.oldest = c.term
	s.crowd.Add(1)
	return s.wal.failed()
}
