package collection

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/rdb"
)

// AppendDump appends the payload of DUMP for the value at a key, of whatever type; v is what
// GetWhole returned, or Get in a unit that holds the key's latch. It appends nothing for a hash of
// which the time of all fields has come.
func AppendDump(dst []byte, u *store.Unit, key []byte, v store.Value) ([]byte, error) {
	if v.Type == store.String {
		value, err := u.Bytes(key, v)
		if err != nil {
			return dst, err
		}
		return rdb.AppendString(dst, value), nil
	}
	start := len(dst)
	if v.FieldExpiry != 0 {
		return appendTimedHash(dst, u, key, v)
	}
	var err error
	switch v.Type {
	case store.Hash, store.Set:
		dst, err = appendTable(dst, u, key, v)
	case store.List:
		dst, err = appendList(dst, u, key, v)
	case store.Stream:
		dst, err = appendStream(dst, u, key, v)
	case store.ZSet:
		dst, err = appendZSet(dst, u, key, v)
	default:
		err = fmt.Errorf("dump a %s: %w", v.Type, errors.ErrUnsupported)
	}
	return rdb.Seal(dst, start), err
}

func appendTable(dst []byte, u *store.Unit, key []byte, v store.Value) ([]byte, error) {
	var t Table
	if err := t.open(u, key, v.Type, v, true, nil); err != nil {
		return dst, err
	}
	if v.Type == store.Set {
		dst = rdb.BeginSet(dst, t.Len())
	} else {
		dst = rdb.BeginHash(dst, t.Len())
	}
	err := t.All(func(field, value []byte) bool {
		dst = rdb.AppendElement(dst, field)
		if v.Type == store.Hash {
			dst = rdb.AppendElement(dst, value)
		}
		return true
	})
	return dst, err
}

// appendTimedHash appends the payload for a hash of which fields may expire.
func appendTimedHash(dst []byte, u *store.Unit, key []byte, v store.Value) ([]byte, error) {
	var t Table
	start := len(dst)
	if err := t.open(u, key, v.Type, v, true, nil); err != nil {
		return dst, err
	}
	if t.v.Whole() && t.mayHaveDue() {
		p, _, err := t.packLive()
		if err != nil {
			return dst, err
		}
		t.v.Inline, t.v.FieldExpiry = p.form(nil), p.first
	}
	n, err := t.LenLive()
	if err != nil || n == 0 {
		return dst, err
	}
	first, err := t.FirstExpiry()
	if err != nil {
		return dst, err
	}
	if first == 0 {
		dst = rdb.BeginHash(dst, n)
	} else {
		dst = rdb.BeginTimedHash(dst, n, first)
	}
	err = t.AllExpiring(func(field, value []byte, expiry int64) bool {
		if first != 0 {
			dst = rdb.AppendExpiry(dst, first, expiry)
		}
		dst = rdb.AppendElement(rdb.AppendElement(dst, field), value)
		return true
	})
	if first == 0 {
		return rdb.Seal(dst, start), err
	}
	return rdb.SealAs(dst, start, rdb.TimedVersion), err
}

func appendList(dst []byte, u *store.Unit, key []byte, v store.Value) ([]byte, error) {
	var l List
	if err := l.opened(u, key, v, true, nil); err != nil {
		return dst, err
	}
	dst = rdb.BeginList(dst, l.Len())
	err := l.Range(0, l.Len()-1, false, func(_ int64, element []byte) bool {
		dst = rdb.AppendElement(dst, element)
		return true
	})
	return dst, err
}

// Restore makes l what the payload of a list holds, whatever was there; the rest is as with
// a table.
func (l *List) Restore(payload *rdb.Value) error {
	return l.Replace(func(yield func(element []byte) error) error {
		return payload.Each(func(element, _ []byte) error { return yield(element) })
	})
}

// Restore makes t what a payload holds, a hash or a set, as t was opened, whatever was there.
// check is shown each field, with its value, before it is set, and may refuse it. The expiry
// goes. With an error nothing was changed; ErrDuplicate if a field comes twice.
func (t *Table) Restore(payload *rdb.Value, check func(field, value []byte) error) error {
	if payload.Timed() {
		now := t.unit.Now()
		return t.ReplaceExpiring(func(set func(field, value []byte, expiry int64) error) error {
			return payload.EachExpiring(func(field, value []byte, expiry int64) error {
				if err := check(field, value); err != nil || expiry != 0 && expiry <= now {
					return err // one whose time has come is left out
				}
				return set(field, value, expiry)
			})
		})
	}
	return t.Replace(func(set func(field, value []byte) error) error {
		return payload.Each(func(field, value []byte) error {
			if err := check(field, value); err != nil {
				return err
			}
			return set(field, value)
		})
	})
}
