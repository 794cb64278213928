package collection

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/rdb"
)

// Replace makes the sorted set what fill gives, each member once, in any order, whatever was
// there; without a member the key goes. fill may be called twice, and may read other values
// of the unit, and this one. The expiry goes, and there is nothing to flush. With an error
// nothing was changed; ErrDuplicate if a member comes twice.
func (z *ZSet) Replace(fill func(set func(member []byte, score float64) error) error) error {
	f := zsetFilling{z: z, seen: make(map[string]struct{})}
	err := fill(f.keep)
	switch {
	case errors.Is(err, errTooLarge):
		return z.construct(fill)
	case err != nil:
		return err
	case len(f.entries) == 0:
		z.table.Clear()
		z.forget()
		return nil
	}
	slices.SortFunc(f.entries, func(a, b []byte) int { return slices.Compare(a, b) })
	t := &z.table
	t.form = binary.AppendUvarint(t.form[:0], uint64(len(f.entries)))
	for _, key := range f.entries {
		score, member := splitRankKey(key)
		t.form = appendEntry(t.form, member, score, true)
	}
	t.putNew(t.form)
	z.forget()
	return nil
}

// A zsetFilling is a sorted set that is being made.
type zsetFilling struct {
	z       *ZSet
	size    int
	entries [][]byte // rank keys
	seen    map[string]struct{}
}

// keep adds a member to a sorted set that is whole.
func (f *zsetFilling) keep(member []byte, score float64) error {
	if _, ok := f.seen[string(member)]; ok {
		return ErrDuplicate
	}
	f.seen[string(member)] = struct{}{}
	f.entries = append(f.entries, RankKey(nil, score, member))
	if f.size += len(member) + scoreSize + 2; f.size > f.z.table.MaxPacked {
		return errTooLarge
	}
	return nil
}

// construct is Replace for a sorted set that is not whole.
func (z *ZSet) construct(fill func(set func(member []byte, score float64) error) error) error {
	t := &z.table
	var sub, value []byte
	err := t.unit.ConstructOrders(t.key, &t.v, store.ZSet, new(ZSet).appendHead(nil), 2, func(set func(sub, value []byte) error) (count, size int64, err error) {
		err = fill(func(member []byte, score float64) error {
			count++
			size += int64(len(member)) + scoreSize
			value = AppendScore(value[:0], score)
			sub = appendSubKey(sub[:0], member)
			if err := set(sub, value); err != nil {
				return err
			}
			sub = RankKey(append(sub[:0], kindScore), score, member)
			return set(sub, nil)
		})
		return count, size, err
	})
	if errors.Is(err, store.ErrDuplicate) {
		err = ErrDuplicate
	}
	if err != nil {
		return err
	}
	if err := z.readHead(); err != nil {
		return err
	}
	z.changed = true
	return z.Flush()
}

// Restore makes z what the payload of a sorted set holds, whatever was there. check is shown
// each member before it is added, and may refuse it. The rest is as with Replace.
func (z *ZSet) Restore(payload *rdb.Value, check func(member []byte) error) error {
	return z.Replace(func(set func(member []byte, score float64) error) error {
		return payload.EachScore(func(member []byte, score float64) error {
			if err := check(member); err != nil {
				return err
			}
			return set(member, score)
		})
	})
}

func appendZSet(dst []byte, u *store.Unit, key []byte, v store.Value) ([]byte, error) {
	var z ZSet
	err := z.table.open(u, key, store.ZSet, v, true, nil)
	if err == nil {
		err = z.readHead()
	}
	if err != nil {
		return dst, err
	}
	// From the last to the first: so Redis can put each at the front.
	dst = rdb.BeginSortedSet(dst, z.Len())
	err = z.Range(nil, nil, true, func(member []byte, score float64) bool {
		dst = rdb.AppendScore(rdb.AppendElement(dst, member), score)
		return true
	})
	return dst, err
}
