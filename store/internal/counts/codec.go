package counts

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/store/internal/layout"
)

// appendDeltas encodes what a journal entry holds: per delta the slice (2 B), then keys, expires and
// bytes as varints. With database n from 1 on, n × 2¹⁶ + 2¹⁵ is added to the keys. Hashes with fields that expire are
// added × 2⁸ to the expires: programs that do not count them read the lower 8 bits.
func appendDeltas(dst []byte, deltas []Delta) []byte {
	for _, d := range deltas {
		dst = binary.BigEndian.AppendUint16(dst, d.Slice)
		keys := int64(d.Keys)
		if d.Database != 0 {
			keys += int64(d.Database)<<16 + databaseBias
		}
		dst = binary.AppendVarint(dst, keys)
		dst = binary.AppendVarint(dst, int64(d.Expires)+int64(d.TimedHashes)<<8)
		dst = binary.AppendVarint(dst, d.Bytes)
	}
	return dst
}

// databaseBias keeps the sum positive where keys go.
const databaseBias = 1 << 15

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
		d := Delta{Slice: slice, Expires: int8(expires), TimedHashes: int8((expires - int64(int8(expires))) >> 8), Bytes: size}
		if keys > 127 {
			n := keys >> 16
			if n >= database.Limit {
				return errCounts
			}
			d.Database = uint16(n)
			keys -= n<<16 + databaseBias
		}
		d.Keys = int8(keys)
		c.Add(d)
	}
	return nil
}

var countKey = []byte{layout.KindCount}

// encode appends the term from which on the journal counts, the keys with an expiry, then slice,
// keys and bytes of each slice that has any. With database n from 1 on, n × 2¹⁶ is added to the slice.
func (c *Counts) encode(dst []byte) []byte {
	dst = binary.AppendVarint(dst, int64(c.term))
	dst = binary.AppendVarint(dst, c.total.expires.Load())
	c.eachPart(func(part int64, l Load) {
		if l.Keys != 0 || l.Bytes != 0 {
			dst = binary.AppendVarint(dst, part)
			dst = binary.AppendVarint(dst, l.Keys)
			dst = binary.AppendVarint(dst, l.Bytes)
		}
	})
	return dst
}

// ExpiresKey holds what countKey lacks, which came first: the keys with an expiry of each
// slice. It counts only under the term of countKey, since a program that does not know it
// leaves it behind.
var ExpiresKey = []byte{layout.KindCount, 'e'}

func expiresOf(l *Load) *int64 { return &l.Expires }

// encodeEach appends the term, then slice and one number of each slice where that is not 0. With database n from 1 on,
// n × 2¹⁶ is added to the slice.
func (c *Counts) encodeEach(dst []byte, of func(*Load) *int64) []byte {
	dst = binary.AppendVarint(dst, int64(c.term))
	c.eachPart(func(part int64, l Load) {
		if n := *of(&l); n != 0 {
			dst = binary.AppendVarint(dst, part)
			dst = binary.AppendVarint(dst, n)
		}
	})
	return dst
}

// decodeEach adds what encodeEach has written. ok is false if that was under another term.
func (c *Counts) decodeEach(b []byte, of func(*Load) *int64) (ok bool, err error) {
	var term int64
	if b, err = readVarints(b, &term); err != nil || uint32(term) != c.term {
		return false, err
	}
	for len(b) > 0 {
		var slice, n int64
		if b, err = readVarints(b, &slice, &n); err != nil {
			return false, err
		}
		var l Load
		*of(&l) = n
		if err := c.setPart(slice, l); err != nil {
			return false, err
		}
	}
	return true, nil
}

// loadExpires reads the keys with an expiry of each slice. ok is false if they are
// not stored.
func (c *Counts) loadExpires(db *pebble.DB) (ok bool, err error) {
	value, closer, err := db.Get(ExpiresKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return c.total.expires.Load() == 0, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = closer.Close() }()
	return c.decodeEach(value, expiresOf)
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

// Load reads the counts of a store that is being opened. mayBeTimed says whether it may have hashes with fields that expire.
func (c *Counts) Load(db *pebble.DB, mayBeTimed bool) error {
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
	if err == nil {
		err = c.loadTimed(db, mayBeTimed)
	}
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
	c.term = last + 1 // numbers start at 1 again
	return nil
}

func (c *Counts) decode(b []byte) error {
	var term, expires int64
	b, err := readVarints(b, &term, &expires)
	if err != nil {
		return err
	}
	c.term = uint32(term)
	c.total.expires.Store(expires)
	for len(b) > 0 {
		var slice, keys, size int64
		if b, err = readVarints(b, &slice, &keys, &size); err != nil {
			return err
		}
		if err := c.setPart(slice, Load{Keys: keys, Bytes: size}); err != nil {
			return err
		}
		if slice < int64(len(c.slices)) {
			c.total.add(Load{Keys: keys, Bytes: size}, 1)
		}
	}
	return nil
}

// eachPart calls visit for each slice, as its number in a checkpoint, of all databases together and then
// of each one from 1 on.
func (c *Counts) eachPart(visit func(part int64, l Load)) {
	for i := range c.slices {
		visit(int64(i), c.slices[i].load())
	}
	for _, db := range c.countedDatabases() {
		db.each(func(slice uint16, l Load) { visit(int64(db.number)<<16|int64(slice), l) })
	}
}

// setPart adds what a checkpoint has of a part.
func (c *Counts) setPart(part int64, l Load) error {
	n := part >> 16
	switch {
	case n < 0 || n >= database.Limit:
		return errCounts
	case n == 0:
		c.slices[part].add(l, 1)
	default:
		c.database(uint16(n)).add(uint16(part), l, 1, false)
	}
	return nil
}
