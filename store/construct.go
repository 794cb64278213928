package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/store/internal/layout"
	"github.com/ringside-kv/ringside/store/internal/ops"
	"github.com/ringside-kv/ringside/store/internal/tap"
)

// A long value is written entry by entry before its header is, in batches of its own. Its
// generation is marked as garbage first, so that a crash in between leaves nothing behind;
// the header's batch takes the mark back.

// stageSize bounds the batches by which a long value is written, in bytes.
const stageSize = 1 << 20

// longValues are the values that a unit has begun to write before their headers.
type longValues struct {
	u *Unit
	// staging holds the generations that this unit writes the header of.
	staging []stagedValue
	// staged: some of staging have been committed in part.
	staged bool
}

// A valueBuilder writes the entries of a value that has no header yet.
type valueBuilder struct {
	u      *Unit
	built  int // which of the unit's it is
	place  Place
	key    []byte
	gen    uint64
	batch  *pebble.Batch
	prefix []byte // of the entries, in Pebble
	more   bool   // some of them are committed
}

// buildValue writes the entries of a value, those that fill sets, under a generation of
// their own. The caller puts the header that names it.
func (lv *longValues) buildValue(key []byte, p Place, fill func(*valueBuilder) error) (gen uint64, err error) {
	if gen, err = lv.u.s.newGeneration(); err != nil {
		return 0, err
	}
	lv.staged = true
	lv.staging = append(lv.staging, stagedValue{place: p, key: key, gen: gen, staged: true})
	c := valueBuilder{u: lv.u, built: len(lv.staging) - 1, place: p, key: key, gen: gen, batch: lv.u.s.db.NewBatch()}
	defer func() { _ = c.batch.Close() }()
	garbage := garbageKey(nil, p, key, gen)
	_ = c.batch.Set(garbage, nil, nil)
	lv.u.s.housekeeper.garbage.Add(1)
	c.prefix = binary.BigEndian.AppendUint64(layout.AppendDataPrefix(nil, p, key), gen)
	if err := fill(&c); err != nil {
		return 0, err
	}
	if err := c.stage(); err != nil {
		return 0, err
	}
	_ = lv.u.ensureBatch().Delete(garbage, nil)
	return gen, nil
}

// set adds an entry. Neither slice is kept.
func (c *valueBuilder) set(sub, value []byte) error {
	_ = c.batch.Set(append(c.prefix, sub...), value, nil)
	if c.batch.Len() < stageSize {
		return nil
	}
	return c.stage()
}

// holds reports, with an error, that there are not so many entries.
func (c *valueBuilder) holds(count int64) error {
	if err := c.stage(); err != nil {
		return err
	}
	iter, err := c.u.s.db.NewIter(&pebble.IterOptions{LowerBound: c.prefix, UpperBound: layout.PrefixEnd(bytes.Clone(c.prefix))})
	if err != nil {
		return c.u.s.readFailed(err)
	}
	for iter.First(); iter.Valid(); iter.Next() {
		count--
	}
	if err := iter.Close(); err != nil {
		return c.u.s.readFailed(err)
	}
	if count != 0 {
		return fmt.Errorf("write long value: %w", ErrDuplicate)
	}
	return nil
}

// stage commits what there is. It need not be durable by itself: the log keeps the order,
// and the header comes after it.
func (c *valueBuilder) stage() error {
	if c.more && c.batch.Empty() {
		return nil
	}
	s, contents := c.u.s, c.batch.Reader()
	if err := s.beginCommit(c.u.frees); err != nil {
		return fmt.Errorf("write long value: %w", err)
	}
	err := s.logAndApply(c.batch, nil)
	if taps := s.taps.Current(); err == nil && taps != nil {
		handOverStaged(taps, contents, &c.u.long.staging[c.built], c.more)
	}
	s.commits.RUnlock()
	if err != nil {
		return fmt.Errorf("write long value: %w: commit: %w", ErrReadOnly, err)
	}
	c.batch.Reset()
	c.more = true
	if u := c.u; !u.isLong {
		u.isLong = true
		u.s.latches.MarkLong(u.latched)
	}
	return nil
}

// resendAllStaged hands over the values whose headers the unit is about to commit, each from its
// beginning, where another tap holds the range than when the value was begun: the stream of
// that tap knows nothing of it. commits is locked for one part at a time, so that taps change
// meanwhile; commit the headers only if isStagedHandedOver.
func (lv *longValues) resendAllStaged() error {
	for i := range lv.staging {
		if b := &lv.staging[i]; lv.adoptsStaged(b) {
			if err := lv.resendStaged(b); err != nil {
				return fmt.Errorf("write long value: %w", err)
			}
		}
	}
	return nil
}

// isStagedHandedOver reports whether all parts of the values whose headers the unit is about to commit
// have gone to the taps that get these. The caller has called beginCommit.
func (lv *longValues) isStagedHandedOver() bool {
	for i := range lv.staging {
		if b := &lv.staging[i]; b.handed != lv.u.s.taps.Holder(b.place) && lv.adoptsStaged(b) {
			return false
		}
	}
	return true
}

// adoptsStaged reports whether the unit changes the header of a value's key to one that names the
// value, which has had none.
func (lv *longValues) adoptsStaged(b *stagedValue) bool {
	if !b.staged || b.adopted {
		return false
	}
	c := lv.u.find(b.place, b.key)
	if c == nil || c.line == nil {
		return false
	}
	var h layout.Header
	_ = h.Parse(c.line)
	return h.Gen == b.gen
}

// resendStaged hands over all parts of a value, unless they have been handed to the tap that
// holds the range. It starts again when the tap changes on the way.
func (lv *longValues) resendStaged(b *stagedValue) error {
	for {
		if err := lv.u.s.beginCommit(lv.u.frees); err != nil {
			return err
		}
		holder := lv.u.s.taps.Holder(b.place)
		handed := b.handed == holder
		b.handed = holder
		lv.u.s.commits.RUnlock()
		if handed || holder.Tap == nil {
			return nil
		}
		if all, err := lv.sendStagedParts(b); all || err != nil {
			return err
		}
	}
}

// sendStagedParts hands over what lies there of a value, in parts of stageSize bytes. It returns
// false once another tap holds the range.
func (lv *longValues) sendStagedParts(b *stagedValue) (all bool, err error) {
	s := lv.u.s
	prefix := binary.BigEndian.AppendUint64(layout.AppendDataPrefix(nil, b.place, b.key), b.gen)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: layout.PrefixEnd(bytes.Clone(prefix))})
	if err != nil {
		return false, s.readFailed(err)
	}
	defer func() { _ = iter.Close() }()
	w := ops.NewWriter(0, 0)
	w.Add(&ops.Op{Kind: ops.Stage, Key: b.key, Gen: b.gen})
	for more := iter.First(); ; more = iter.Next() {
		if more {
			w.Add(&ops.Op{Kind: ops.PutSub, Key: b.key, A: iter.Key()[len(prefix):], B: iter.Value()})
			if len(w.Buf) < stageSize {
				continue
			}
		} else if err := iter.Error(); err != nil {
			return false, s.readFailed(err)
		}
		if held, err := lv.handOverTo(b.handed, b.place, w.Buf); !held || err != nil {
			return false, err
		}
		if !more {
			return true, nil
		}
		w.Begin(0)
		w.Add(&ops.Op{Kind: ops.StageMore, Key: b.key, Gen: b.gen})
	}
}

// handOverTo hands over a batch if the holder is still that of a place.
func (lv *longValues) handOverTo(h tap.Holder, p Place, batch []byte) (held bool, err error) {
	if err := lv.u.s.beginCommit(lv.u.frees); err != nil {
		return false, err
	}
	defer lv.u.s.commits.RUnlock()
	if lv.u.s.taps.Holder(p) != h {
		return false, nil
	}
	h.Tap.Hand(batch)
	return true, nil
}
