package store

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
)

// A long value is written entry by entry before its header is, in batches of its own. Its
// generation is marked as garbage first, so that a crash in between leaves nothing behind;
// the header's batch takes the mark back.

// stageSize bounds the batches by which a long value is written, in bytes.
const stageSize = 1 << 20

// A constructor writes the entries of a value that has no header yet.
type constructor struct {
	u      *Unit
	place  Place
	key    []byte
	gen    uint64
	batch  *pebble.Batch
	prefix []byte // of the entries, in Pebble
	more   bool   // some of them are committed
}

// construct writes the entries of a value, those that fill sets, under a generation of
// their own. Whoever calls puts the header that names it.
func (u *Unit) construct(key []byte, p Place, fill func(*constructor) error) (gen uint64, err error) {
	if gen, err = u.s.newGeneration(); err != nil {
		return 0, err
	}
	if !u.constructing {
		u.s.constructing.RLock()
		u.constructing = true
	}
	u.built = append(u.built, construction{place: p, key: key, gen: gen, staged: true})
	c := constructor{u: u, place: p, key: key, gen: gen, batch: u.s.db.NewBatch()}
	defer func() { _ = c.batch.Close() }()
	garbage := garbageKey(nil, p, key, gen)
	_ = c.batch.Set(garbage, nil, nil)
	u.s.garbage.Add(1)
	c.prefix = binary.BigEndian.AppendUint64(appendDataPrefix(nil, p, key), gen)
	if err := fill(&c); err != nil {
		return 0, err
	}
	if err := c.stage(); err != nil {
		return 0, err
	}
	_ = u.batched().Delete(garbage, nil)
	return gen, nil
}

// set adds an entry. Neither slice is kept.
func (c *constructor) set(sub, value []byte) error {
	_ = c.batch.Set(append(c.prefix, sub...), value, nil)
	if c.batch.Len() < stageSize {
		return nil
	}
	return c.stage()
}

// holds reports, with an error, that there are not so many entries.
func (c *constructor) holds(count int64) error {
	if err := c.stage(); err != nil {
		return err
	}
	iter, err := c.u.s.db.NewIter(&pebble.IterOptions{LowerBound: c.prefix, UpperBound: prefixEnd(bytes.Clone(c.prefix))})
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
func (c *constructor) stage() error {
	if c.more && c.batch.Empty() {
		return nil
	}
	s, contents := c.u.s, c.batch.Reader()
	if err := s.write(c.batch, pebble.NoSync); err != nil {
		return fmt.Errorf("write long value: %w", err)
	}
	if taps := s.taps.Load(); taps != nil {
		taps.staged(contents, c.place, c.key, c.gen, c.more)
	}
	c.batch.Reset()
	c.more = true
	return nil
}
