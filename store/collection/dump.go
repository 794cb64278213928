package collection

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/rdb"
)

// AppendDump appends the payload of DUMP for the value at a key, of whatever type; v is what
// GetWhole returned, or Get in a unit that holds the key's latch. It appends nothing for a hash of
// which the time of all fields has come. The payload has the oldest RDB version from [rdb.Version] on
// that can hold the value.
func AppendDump(dst []byte, u *store.Unit, key []byte, v store.Value) ([]byte, error) {
	dst, _, err := appendDump(dst, u, key, v, rdb.Version)
	return dst, err
}

// AppendDumpAs is AppendDump with an RDB version that the payload is to have: from [rdb.OldestVersion]
// on, or [rdb.ValkeyVersion]. The error is [rdb.ErrVersion] if none of that version can hold the value.
func AppendDumpAs(dst []byte, u *store.Unit, key []byte, v store.Value, version int) ([]byte, error) {
	start := len(dst)
	dst, needs, err := appendDump(dst, u, key, v, version)
	switch {
	case err != nil || len(dst) == start:
		return dst, err
	case needs > version || needs == rdb.ReleasedVersion && version == rdb.ValkeyVersion:
		return dst[:start], fmt.Errorf("%w: %d", rdb.ErrVersion, needs)
	}
	return rdb.Reseal(dst, start, version), nil
}

// AppendDumpWithin is AppendDumpAs, but leaves out the expiry times of a hash's fields if the version knows none.
func AppendDumpWithin(dst []byte, u *store.Unit, key []byte, v store.Value, version int) ([]byte, error) {
	start := len(dst)
	dst, err := AppendDumpAs(dst, u, key, v, version)
	if v.FieldExpiry == 0 || !errors.Is(err, rdb.ErrVersion) {
		return dst, err
	}
	dst, _, err = appendTimedHash(dst[:start], u, key, v, fieldsPlain)
	if err != nil || len(dst) == start {
		return dst, err
	}
	return rdb.Reseal(dst, start, version), nil
}

// appendDump is AppendDump in the form for an RDB version, or in a later one that the value needs, which
// needs is. The footer may say another.
func appendDump(dst []byte, u *store.Unit, key []byte, v store.Value, version int) (_ []byte, needs int, err error) {
	needs = rdb.OldestVersion
	if v.Type == store.String {
		value, err := u.Bytes(key, v)
		if err != nil {
			return dst, needs, err
		}
		return rdb.AppendString(dst, value), needs, nil
	}
	start := len(dst)
	if v.Type == store.Bloom {
		dst, err = appendFilter(dst, u, key, v)
		return dst, needs, err
	}
	if v.Type == store.JSON {
		text, err := u.Bytes(key, v)
		if err != nil {
			return dst, needs, err
		}
		return rdb.EndModule(rdb.AppendPiece(rdb.BeginModule(dst, rdb.JSONType), text), start), needs, nil
	}
	if v.FieldExpiry != 0 {
		form := fieldsRedis
		if version == rdb.ValkeyVersion {
			form = fieldsValkey
		}
		return appendTimedHash(dst, u, key, v, form)
	}
	switch v.Type {
	case store.Hash, store.Set:
		dst, err = appendTable(dst, u, key, v)
	case store.List:
		dst, err = appendList(dst, u, key, v)
	case store.Stream:
		if dst, needs, err = appendStream(dst, u, key, v, version); needs > version {
			return rdb.SealAs(dst, start, needs), needs, err
		}
	case store.ZSet:
		dst, err = appendZSet(dst, u, key, v)
	default:
		err = fmt.Errorf("dump a %s: %w", v.Type, errors.ErrUnsupported)
	}
	return rdb.Seal(dst, start), needs, err
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

// A fieldsForm is how the payload of a hash has the expiry times of fields.
type fieldsForm int

const (
	fieldsRedis fieldsForm = iota
	fieldsValkey
	fieldsPlain // it has none
)

// appendTimedHash appends the payload for a hash of which fields may expire, in a form, and returns the RDB
// version that it needs.
func appendTimedHash(dst []byte, u *store.Unit, key []byte, v store.Value, form fieldsForm) (_ []byte, needs int, err error) {
	var t Table
	start, needs := len(dst), rdb.OldestVersion
	if err := t.open(u, key, v.Type, v, true, nil); err != nil {
		return dst, needs, err
	}
	if t.v.Whole() && t.mayHaveDue() {
		p, _, err := t.packLive()
		if err != nil {
			return dst, needs, err
		}
		t.v.Inline, t.v.FieldExpiry = p.form(nil), p.bound()
	}
	n, err := t.LenLive()
	if err != nil || n == 0 {
		return dst, needs, err
	}
	first, err := t.FirstExpiry()
	switch {
	case err != nil:
		return dst, needs, err
	case first == 0 || form == fieldsPlain:
		dst = rdb.BeginHash(dst, n)
	case form == fieldsValkey:
		dst, needs = rdb.BeginValkeyHash(dst, n), rdb.ValkeyVersion
	default:
		dst, needs = rdb.BeginTimedHash(dst, n, first), rdb.TimedVersion
	}
	err = t.AllExpiring(func(field, value []byte, expiry int64) bool {
		if needs == rdb.TimedVersion {
			dst = rdb.AppendExpiry(dst, first, expiry)
		}
		dst = rdb.AppendElement(rdb.AppendElement(dst, field), value)
		if needs == rdb.ValkeyVersion {
			dst = rdb.AppendValkeyExpiry(dst, expiry)
		}
		return true
	})
	return rdb.SealAs(dst, start, max(needs, rdb.Version)), needs, err
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
