package collection

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/rdb"
)

// AppendDump appends the payload of DUMP for the value at a key, of whatever type; v is what
// GetWhole returned, or Get in a unit that holds the key's latch.
func AppendDump(dst []byte, u *store.Unit, key []byte, v store.Value) ([]byte, error) {
	if v.Type == store.String {
		value, err := u.Bytes(key, v)
		if err != nil {
			return dst, err
		}
		return rdb.AppendString(dst, value), nil
	}
	var t Table
	if err := t.open(u, key, v.Type, v, true, nil); err != nil {
		return dst, err
	}
	start := len(dst)
	switch v.Type {
	case store.Hash:
		dst = rdb.BeginHash(dst, t.Len())
	case store.Set:
		dst = rdb.BeginSet(dst, t.Len())
	default:
		return dst, fmt.Errorf("dump a %s: %w", v.Type, errors.ErrUnsupported)
	}
	err := t.All(func(field, value []byte) bool {
		dst = rdb.AppendElement(dst, field)
		if v.Type == store.Hash {
			dst = rdb.AppendElement(dst, value)
		}
		return true
	})
	return rdb.Seal(dst, start), err
}

// Restore makes t what a payload holds, a hash or a set, as t was opened, whatever was there.
// check is shown each field, with its value, before it is set, and may refuse it. The expiry
// goes. With an error nothing was changed; ErrDuplicate if a field comes twice.
func (t *Table) Restore(payload *rdb.Value, check func(field, value []byte) error) error {
	return t.Replace(func(set func(field, value []byte) error) error {
		return payload.Each(func(field, value []byte) error {
			if err := check(field, value); err != nil {
				return err
			}
			return set(field, value)
		})
	})
}
