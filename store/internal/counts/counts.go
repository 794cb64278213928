package counts

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
type Counts struct {
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

// IsCertain reports whether the count of keys of a slice is known to be right.
func (c *Counts) IsCertain(slice uint16) bool { return c.certain[slice/64]&(1<<(slice%64)) != 0 }

// SetCertain says whether it is; Store.commits is locked.
func (c *Counts) SetCertain(slice uint16, certain bool) {
	if certain {
		c.certain[slice/64] |= 1 << (slice % 64)
	} else {
		c.certain[slice/64] &^= 1 << (slice % 64)
	}
}

// beginTerm begins a new term of the journal; Store.commits is locked.
func (c *Counts) beginTerm() {
	c.term++
	c.number.Store(0)
	c.entries.Store(0)
}

// dropJournal adds to a batch the deletion of the journal before the present term. The
// caller sets oldest once the batch has been committed: so no deletion of the journal
// overlaps another one, since overlapping range tombstones of one memtable cost the square
// of their number.
func (c *Counts) dropJournal(b *pebble.Batch) {
	_ = b.DeleteRange(journalKey(nil, c.oldest, 0), journalKey(nil, c.term, 0), nil)
}

type sliceCount struct{ keys, bytes, expires atomic.Int64 }

// checkpointEvery bounds what opening has to read of the journal.
const checkpointEvery = 200_000

// A Delta is what one change does to the counts.
type Delta struct {
	Slice   uint16
	Expires int8
	Keys    int8
	Bytes   int64
}

// AppendDelta adds a change behind others. It goes into the last one if that is of the same
// slice, as those of many commands on one key are.
func AppendDelta(deltas []Delta, d Delta) []Delta {
	if n := len(deltas); n > 0 && deltas[n-1].Slice == d.Slice {
		last := &deltas[n-1]
		keys, expires := int(last.Keys)+int(d.Keys), int(last.Expires)+int(d.Expires)
		if keys == int(int8(keys)) && expires == int(int8(expires)) {
			d = Delta{Slice: d.Slice, Keys: int8(keys), Expires: int8(expires), Bytes: last.Bytes + d.Bytes}
			deltas = deltas[:n-1]
		}
	}
	if d.Keys == 0 && d.Bytes == 0 && d.Expires == 0 {
		return deltas
	}
	return append(deltas, d)
}

// Add adds a change to the counts.
func (c *Counts) Add(d Delta) {
	s := &c.slices[d.Slice]
	if d.Keys != 0 {
		s.keys.Add(int64(d.Keys))
		c.keys.Add(int64(d.Keys))
	}
	if d.Bytes != 0 {
		s.bytes.Add(d.Bytes)
		c.bytes.Add(d.Bytes)
		if d.Bytes < 0 && c.removed != nil {
			c.removed(d.Slice, -d.Bytes)
		}
	}
	if d.Expires != 0 {
		s.expires.Add(int64(d.Expires))
		c.expires.Add(int64(d.Expires))
	}
}

// Reset sets all counts to zero, which is certain.
func (c *Counts) Reset() {
	for i := range c.slices {
		s := &c.slices[i]
		clearCount(&s.keys)
		clearCount(&s.bytes)
		clearCount(&s.expires)
	}
	c.keys.Store(0)
	c.bytes.Store(0)
	c.expires.Store(0)
	for i := range c.certain {
		c.certain[i] = ^uint64(0)
	}
}

// clearCount sets a count to zero. A load costs a twentieth of a store, and of 196,608 counts
// few are not zero already.
func clearCount(n *atomic.Int64) {
	if n.Load() != 0 {
		n.Store(0)
	}
}

func journalKey(dst []byte, term uint32, n uint64) []byte {
	dst = append(dst, layout.KindJournal)
	dst = binary.BigEndian.AppendUint32(dst, term)
	return binary.BigEndian.AppendUint64(dst, n)
}

// appendDeltas encodes what a journal entry holds: per delta the slice (2 B), then
// keys, expires and bytes as varints.
func appendDeltas(dst []byte, deltas []Delta) []byte {
	for _, d := range deltas {
		dst = binary.BigEndian.AppendUint16(dst, d.Slice)
		dst = binary.AppendVarint(dst, int64(d.Keys))
		dst = binary.AppendVarint(dst, int64(d.Expires))
		dst = binary.AppendVarint(dst, d.Bytes)
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

func (c *Counts) addEncoded(b []byte) error {
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
		c.Add(Delta{slice, int8(expires), int8(keys), size})
	}
	return nil
}

var countKey = []byte{layout.KindCount}

// encode appends the term from which on the journal counts, the keys with an
// expiry, then slice, keys and bytes of each slice that has any.
func (c *Counts) encode(dst []byte) []byte {
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

// ExpiresKey holds what countKey lacks, which came first: the term, then slice and
// keys with an expiry of each slice that has any. It counts only under the term of
// countKey, since a program that does not know it leaves it behind.
var ExpiresKey = []byte{layout.KindCount, 'e'}

func (c *Counts) encodeExpires(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(c.term))
	for i := range c.slices {
		if n := c.slices[i].expires.Load(); n != 0 {
			dst = binary.AppendVarint(dst, int64(i))
			dst = binary.AppendVarint(dst, n)
		}
	}
	return dst
}

func (c *Counts) decodeExpires(b []byte) (ok bool, err error) {
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
func (c *Counts) loadExpires(db *pebble.DB) (ok bool, err error) {
	value, closer, err := db.Get(ExpiresKey)
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
func (c *Counts) countExpires(db *pebble.DB) error {
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

// Load reads the counts of a store that is being opened.
func (c *Counts) Load(db *pebble.DB) error {
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

func (c *Counts) decode(b []byte) error {
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

// A Load is what a range holds.
type Load struct {
	Keys    int64
	Bytes   int64 // of keys and values
	Expires int64 // keys with an expiry
	// Heaviest is the bytes of the heaviest slice of 2¹⁶ tokens of the range: no
	// key is larger, and no cut at a slice's bounds parts more evenly.
	Heaviest int64
}

// Add adds what another part of the range holds.
func (l *Load) Add(m Load) {
	l.Keys += m.Keys
	l.Bytes += m.Bytes
	l.Expires += m.Expires
	l.Heaviest = max(l.Heaviest, m.Heaviest)
}

// Take subtracts what some slices lose from the counts, or with sign -1 adds it.
func (c *Counts) Take(gone map[uint16]Load, sign int64) {
	for slice, l := range gone {
		n := &c.slices[slice]
		n.keys.Add(-sign * l.Keys)
		n.bytes.Add(-sign * l.Bytes)
		n.expires.Add(-sign * l.Expires)
		c.keys.Add(-sign * l.Keys)
		c.bytes.Add(-sign * l.Bytes)
		c.expires.Add(-sign * l.Expires)
		if c.removed != nil {
			c.removed(slice, sign*l.Bytes)
		}
	}
}

// Total returns what all slices hold. Heaviest is not known of it.
func (c *Counts) Total() Load {
	return Load{Keys: c.keys.Load(), Bytes: c.bytes.Load(), Expires: c.expires.Load()}
}

// Of returns what a slice holds.
func (c *Counts) Of(slice uint16) Load {
	s := &c.slices[slice]
	return Load{Keys: s.keys.Load(), Bytes: s.bytes.Load(), Expires: s.expires.Load()}
}

// KeysOf returns how many keys a slice holds.
func (c *Counts) KeysOf(slice uint16) int64 { return c.slices[slice].keys.Load() }

// AppendEntry appends the key of the next journal entry, of keyLen bytes, and the entry, which
// holds some changes. Store.commits is held for reading.
func (c *Counts) AppendEntry(dst []byte, deltas []Delta) (entry []byte, keyLen int) {
	dst = journalKey(dst, c.term, c.number.Add(1))
	keyLen = len(dst)
	c.entries.Add(1)
	return appendDeltas(dst, deltas), keyLen
}

// WantsCheckpoint reports whether the journal is long.
func (c *Counts) WantsCheckpoint() bool { return c.entries.Load() > checkpointEvery }

// Checkpoint begins a new term, and has a batch write all counts, as they are now, and remove the
// journal before them. Store.commits is locked, and Store.checkpoints.
func (c *Counts) Checkpoint(b *pebble.Batch) {
	c.beginTerm()
	c.dropJournal(b)
	_ = b.Set(countKey, c.encode(nil), nil)
	_ = b.Set(ExpiresKey, c.encodeExpires(nil), nil)
}

// CheckpointEmpty is checkpoint for a store that the batch empties.
func (c *Counts) CheckpointEmpty(b *pebble.Batch) {
	c.beginTerm()
	c.dropJournal(b)
	_ = b.Set(countKey, encodeNoCounts(c.term), nil)
	_ = b.Delete(ExpiresKey, nil)
}

// JournalDropped notes that the batch of a checkpoint has been committed.
func (c *Counts) JournalDropped() { c.oldest = c.term }

// OnRemoved has remove called with the bytes that go from a slice. It must not block.
func (c *Counts) OnRemoved(remove func(slice uint16, bytes int64)) { c.removed = remove }
