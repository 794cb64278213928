package counts

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/batchrepr"

	"github.com/ringside-kv/ringside/store/internal/layout"
)

// Hashes with fields that expire are counted since a later version of the program than keys with an expiry. Programs
// before it open the same directories, and change such hashes without a count. So this count is right only if no other
// program has written since it was right, and else the store counts the hashes anew:
//
//   - A program that writes all counts leaves TimedKey behind with an old term.
//   - What it has written since is in the log, in segments whose first record has neither markKey nor TimedKey. Each start
//     of a program begins a segment, and the log loses none before all counts are written.
//
// Guarded by Store.commits, locked for writing, but for foreign.
type timed struct {
	known   bool
	foreign bool   // another program has written to the log; known before the counts are loaded
	taken   uint64 // how often counts have changed otherwise than by deltas
}

// TimedKey holds the hashes with fields that expire of each slice, as ExpiresKey does keys.
var TimedKey = []byte{layout.KindCount, 'h'}

// markKey is a key that is only in the log; see timed.
var markKey = []byte{layout.KindCount, 'm'}

// Mark returns the batch that goes into the first record that a start of the program appends to the log.
func Mark() []byte {
	var b pebble.Batch
	_ = b.Set(markKey, nil, nil)
	return b.Repr()
}

// SeeSegment is told the first record of each segment of the log that is applied, before Load.
func (c *Counts) SeeSegment(first []byte) {
	r := batchrepr.Read(first)
	for _, key, _, ok, err := r.Next(); ok && err == nil; _, key, _, ok, err = r.Next() {
		if bytes.Equal(key, markKey) || bytes.Equal(key, TimedKey) {
			return
		}
	}
	c.timed.foreign = true
}

func timedOf(l *Load) *int64 { return &l.TimedHashes }

// checkpointTimed is the part of Checkpoint for hashes with fields that expire.
func (c *Counts) checkpointTimed(b *pebble.Batch) {
	if c.timed.known {
		_ = b.Set(TimedKey, c.encodeEach(nil, timedOf), nil)
	} else {
		_ = b.Delete(TimedKey, nil)
	}
}

// loadTimed reads the hashes with fields that expire of each slice.
func (c *Counts) loadTimed(db *pebble.DB, mayBe bool) error {
	value, closer, err := db.Get(TimedKey)
	if errors.Is(err, pebble.ErrNotFound) {
		c.timed.known = !mayBe
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = closer.Close() }()
	ok, err := c.decodeEach(value, timedOf)
	for i := range c.slices {
		c.total.timedHashes.Add(c.slices[i].timedHashes.Load())
	}
	c.timed.known = ok && !c.timed.foreign || !mayBe
	return err
}

// KnowsTimed reports whether the counts of hashes with fields that expire are right; Store.commits is held.
func (c *Counts) KnowsTimed() bool { return c.timed.known }

// NextTimed returns the next slice from one on where such hashes are to be counted, if there is one. Otherwise the
// counts are right. Store.commits is locked.
func (c *Counts) NextTimed(from int) (slice uint16, ok bool) {
	for ; from < len(c.slices); from++ {
		if c.slices[from].load() != (Load{}) {
			return uint16(from), true
		}
	}
	c.timed.known = true
	return 0, false
}

// Taken says how often counts have changed otherwise than by deltas; Store.commits is locked.
func (c *Counts) Taken() uint64 { return c.timed.taken }

// CorrectTimed corrects the hashes of some parts from what was counted at a moment to what there was. Store.commits is
// locked, and Taken is what it was at that moment.
func (c *Counts) CorrectTimed(counted, were map[Part]Load) {
	wrong := make(map[Part]Load)
	for part, l := range counted {
		wrong[part] = Load{TimedHashes: l.TimedHashes}
	}
	for part, l := range were {
		wrong[part] = Load{TimedHashes: wrong[part].TimedHashes - l.TimedHashes}
	}
	c.Take(wrong, 1)
}

// DoubtTimed notes that the counts of such hashes may be wrong: the next start counts them anew. Store.commits is locked.
func (c *Counts) DoubtTimed() { c.timed.known = false }
