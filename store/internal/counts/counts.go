package counts

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Counts of keys and bytes for each slice of 2¹⁶ tokens, kept as writes go by.
//
// A crash must not make them wrong, and writing a changed count with each commit
// would double the work of a SET. So each commit that changes any count carries
// one journal entry with its changes (overwriting a value by one of the same
// length changes none), under a key of its own. The journal may be in the log alone. Now and then,
// before the log is cut, and when the store is closed, all counts are written as one entry and the
// journal before it is removed; opening reads that entry and adds what the journal has since.
//
// The journal's keys begin with a term. A checkpoint starts a new term while no
// commit is on its way, so that the counts it has copied are exactly the sum of
// all terms before.
type Counts struct {
	// slices and total are of all databases together. What database 0 holds of them is what no
	// other one does.
	slices  [1 << 16]sliceCount
	total   sliceCount
	passive passive
	// databases are those from 1 on; nil where nothing was ever counted. counted are the others.
	databases [database.Limit]atomic.Pointer[databaseCount]
	counted   atomic.Pointer[[]*databaseCount]
	growing   sync.Mutex // held while a database is added to both

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
	timed   timed
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

type sliceCount struct{ keys, bytes, expires, timedHashes atomic.Int64 }

func (s *sliceCount) add(l Load, sign int64) {
	if l.Keys != 0 {
		s.keys.Add(sign * l.Keys)
	}
	if l.Bytes != 0 {
		s.bytes.Add(sign * l.Bytes)
	}
	if l.Expires != 0 {
		s.expires.Add(sign * l.Expires)
	}
	if l.TimedHashes != 0 {
		s.timedHashes.Add(sign * l.TimedHashes)
	}
}

func (s *sliceCount) load() Load {
	return Load{Keys: s.keys.Load(), Bytes: s.bytes.Load(), Expires: s.expires.Load(), TimedHashes: s.timedHashes.Load()}
}

// reset sets the counts to zero. A load costs a twentieth of a store, and of 262,144 counts few are
// not zero already.
func (s *sliceCount) reset() {
	for _, n := range [...]*atomic.Int64{&s.keys, &s.bytes, &s.expires, &s.timedHashes} {
		if n.Load() != 0 {
			n.Store(0)
		}
	}
}

// checkpointEvery bounds what opening has to read of the journal.
const checkpointEvery = 200_000

// A Delta is what one change does to the counts.
type Delta struct {
	Slice       uint16
	Database    uint16
	Expires     int8
	TimedHashes int8
	Keys        int8
	Bytes       int64
}

// AppendDelta adds a change behind others. It goes into the last one if that is of the same slice
// and database, as those of many commands on one key are.
func AppendDelta(deltas []Delta, d Delta) []Delta {
	if n := len(deltas); n > 0 && deltas[n-1].Slice == d.Slice && deltas[n-1].Database == d.Database {
		last := &deltas[n-1]
		keys, expires, timed := int(last.Keys)+int(d.Keys), int(last.Expires)+int(d.Expires), int(last.TimedHashes)+int(d.TimedHashes)
		if keys == int(int8(keys)) && expires == int(int8(expires)) && timed == int(int8(timed)) {
			d.Keys, d.Expires, d.TimedHashes, d.Bytes = int8(keys), int8(expires), int8(timed), last.Bytes+d.Bytes
			deltas = deltas[:n-1]
		}
	}
	if d.Keys == 0 && d.Bytes == 0 && d.Expires == 0 && d.TimedHashes == 0 {
		return deltas
	}
	return append(deltas, d)
}

// Add adds a change to the counts.
func (c *Counts) Add(d Delta) {
	l := Load{Keys: int64(d.Keys), Bytes: d.Bytes, Expires: int64(d.Expires), TimedHashes: int64(d.TimedHashes)}
	c.slices[d.Slice].add(l, 1)
	c.total.add(l, 1)
	passive := d.Bytes != 0 && c.passive.isPassive(d.Slice)
	if passive {
		c.passive.bytes.Add(d.Bytes)
	}
	if d.Bytes < 0 && c.removed != nil {
		c.removed(d.Slice, -d.Bytes)
	}
	if d.Database != 0 {
		c.database(d.Database).add(d.Slice, l, 1, passive)
	}
}

// Reset sets all counts to zero, which is certain.
func (c *Counts) Reset() {
	for i := range c.slices {
		c.slices[i].reset()
	}
	c.total.reset()
	c.passive.bytes.Store(0)
	for _, db := range c.countedDatabases() {
		db.reset()
	}
	for i := range c.certain {
		c.certain[i] = ^uint64(0)
	}
	c.timed.taken++
	c.timed.known = true
}

func journalKey(dst []byte, term uint32, n uint64) []byte {
	dst = append(dst, layout.KindJournal)
	dst = binary.BigEndian.AppendUint32(dst, term)
	return binary.BigEndian.AppendUint64(dst, n)
}

// A Load is what a range holds.
type Load struct {
	Keys    int64
	Bytes   int64 // of keys and values
	Expires int64 // keys with an expiry
	// TimedHashes are hashes with fields that expire.
	TimedHashes int64
	// Heaviest is the bytes of the heaviest slice of 2¹⁶ tokens of the range: no
	// key is larger, and no cut at a slice's bounds parts more evenly.
	Heaviest int64
}

// Add adds what another part of the range holds.
func (l *Load) Add(m Load) {
	l.Keys += m.Keys
	l.Bytes += m.Bytes
	l.Expires += m.Expires
	l.TimedHashes += m.TimedHashes
	l.Heaviest = max(l.Heaviest, m.Heaviest)
}

// Subtract takes away what a part of it holds; Heaviest stays.
func (l *Load) Subtract(m Load) {
	l.Keys -= m.Keys
	l.Bytes -= m.Bytes
	l.Expires -= m.Expires
	l.TimedHashes -= m.TimedHashes
}

// A Part is what one database has in a slice. Number 0 is for all databases together.
type Part struct{ Database, Slice uint16 }

// Take subtracts what some parts lose from the counts, or with sign -1 adds it. What a slice loses of
// database n is also in what it loses of all. Store.commits is locked.
func (c *Counts) Take(gone map[Part]Load, sign int64) {
	c.timed.taken++
	for part, l := range gone {
		passive := c.passive.isPassive(part.Slice)
		if part.Database != 0 {
			c.database(part.Database).add(part.Slice, l, -sign, passive)
			continue
		}
		c.slices[part.Slice].add(l, -sign)
		c.total.add(l, -sign)
		if passive {
			c.passive.bytes.Add(-sign * l.Bytes)
		}
		if c.removed != nil {
			c.removed(part.Slice, sign*l.Bytes)
		}
	}
}

// Total returns what all slices hold. Heaviest is not known of it.
func (c *Counts) Total() Load { return c.total.load() }

// Of returns what a slice holds.
func (c *Counts) Of(slice uint16) Load { return c.slices[slice].load() }

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
	_ = b.Set(ExpiresKey, c.encodeEach(nil, expiresOf), nil)
	c.checkpointTimed(b)
}

// CheckpointEmpty is checkpoint for a store that the batch empties.
func (c *Counts) CheckpointEmpty(b *pebble.Batch) {
	c.beginTerm()
	c.dropJournal(b)
	_ = b.Set(countKey, encodeNoCounts(c.term), nil)
	_ = b.Delete(ExpiresKey, nil)
	_ = b.Set(TimedKey, binary.AppendVarint(nil, int64(c.term)), nil)
}

// JournalDropped notes that the batch of a checkpoint has been committed.
func (c *Counts) JournalDropped() { c.oldest = c.term }

// OnRemoved has remove called with the bytes that go from a slice. It must not block.
func (c *Counts) OnRemoved(remove func(slice uint16, bytes int64)) { c.removed = remove }
