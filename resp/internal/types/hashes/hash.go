package hashes

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// hash opens the hash at args[1] to change it, or to look at one field.
func hash(x *command.Call) (*collection.Table, bool) {
	return &x.Table, x.OpenTable(&x.Table, x.Args[1], store.Hash)
}

// wholeHash is hash for commands that look at more than one field.
func wholeHash(x *command.Call) (*collection.Table, bool) {
	return &x.Table, x.OpenWholeTable(&x.Table, x.Args[1], store.Hash)
}

// setField gives a field of a hash its value.
func setField(x *command.Call, t *collection.Table, field, value []byte) (added bool, err error) {
	if added, err = t.Set(field, value); err == nil {
		markLarge(x, t, field, value)
	}
	return added, err
}

// changeField is setField for a new value that keeps the expiry of the old one.
func changeField(x *command.Call, t *collection.Table, field, value []byte) error {
	_, err := t.SetKeeping(field, value)
	if err == nil {
		markLarge(x, t, field, value)
	}
	return err
}

// markLarge notes that a hash is one that Redis keeps in no compact form, if a field that was set
// makes it one.
func markLarge(x *command.Call, t *collection.Table, field, value []byte) {
	if IsLargeField(x, field, value) || t.Len() > x.Limits.Encodings.HashEntries.Load() {
		t.MarkLarge()
	}
}

// IsLargeField reports whether Redis keeps a hash with the field in no compact form, which OBJECT ENCODING
// tells: hashes of some fields, none of them nor their values long.
func IsLargeField(x *command.Call, field, value []byte) bool {
	most := x.Limits.Encodings.HashValue.Load()
	return int64(len(field)) > most || int64(len(value)) > most
}

// setFields gives the fields in args[2:] the values behind them, and reports how many are
// new. It has replied, and returns false, if that could not be.
func setFields(x *command.Call) (added int64, ok bool) {
	if len(x.Args)%2 != 0 {
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return 0, false
	}
	for i := 2; i < len(x.Args); i += 2 {
		if !x.FieldFits(x.Args[i]) {
			return 0, false
		}
	}
	t, ok := hash(x)
	if !ok {
		return 0, false
	}
	for i := 2; i < len(x.Args); i += 2 {
		isNew, err := setField(x, t, x.Args[i], x.Args[i+1])
		if err != nil {
			x.FailPart(i > 2, err)
			return 0, false
		}
		if isNew {
			added++
		}
	}
	x.Unit.Note(store.EventHash, "hset", x.Args[1])
	return added, true
}

func cmdHset(x *command.Call) {
	if added, ok := setFields(x); ok {
		x.Int(added)
	}
}

func cmdHmset(x *command.Call) {
	if _, ok := setFields(x); ok {
		x.OK()
	}
}

func cmdHsetnx(x *command.Call) {
	t, ok := hash(x)
	if !ok || !x.FieldFits(x.Args[2]) {
		return
	}
	_, found, err := t.Get(x.Args[2])
	if err == nil && !found {
		_, err = setField(x, t, x.Args[2], x.Args[3])
	}
	if err != nil {
		x.Fail(err)
		return
	}
	if !found {
		x.Unit.Note(store.EventHash, "hset", x.Args[1])
	}
	x.Bool(!found)
}

func cmdHget(x *command.Call) {
	if value, found, ok := field(x); ok {
		if found {
			x.Bulk(value)
		} else {
			x.Null()
		}
	}
}

// field looks at the field args[2] of the hash at args[1]. It has replied, and returns
// false, if that cannot be read.
func field(x *command.Call) (value []byte, found, ok bool) {
	t, ok := hash(x)
	if !ok {
		return nil, false, false
	}
	value, found, err := t.Get(x.Args[2])
	if err != nil {
		x.Fail(err)
	}
	return value, found, err == nil
}

func cmdHexists(x *command.Call) {
	if _, found, ok := field(x); ok {
		x.Bool(found)
	}
}

func cmdHstrlen(x *command.Call) {
	if value, _, ok := field(x); ok {
		x.Int(int64(len(value)))
	}
}

func cmdHlen(x *command.Call) {
	if t, ok := hash(x); ok {
		x.Int(t.Len())
	}
}

func cmdHmget(x *command.Call) {
	t, ok := wholeHash(x)
	if !ok {
		return
	}
	x.Elements(func() error {
		x.Array(len(x.Args) - 2)
		for _, field := range x.Args[2:] {
			value, found, err := t.Get(field)
			switch {
			case err != nil:
				return err
			case !found:
				x.Null()
			case !x.FitsReply(int64(len(value)) + command.ElementReply):
				return command.LimitError(x.OverOutputBuffer())
			default:
				x.Bulk(value)
			}
		}
		return nil
	})
}

func cmdHdel(x *command.Call) {
	t, ok := hash(x)
	if !ok {
		return
	}
	n := int64(0)
	for _, field := range x.Args[2:] {
		gone, err := t.Delete(field)
		if err != nil {
			x.FailPart(n > 0, err)
			return
		}
		if gone {
			n++
		}
	}
	if n > 0 {
		x.NoteRemoved(x.Args[1], t, store.EventHash, "hdel")
	}
	x.Int(n)
}

func cmdHgetall(x *command.Call) { wholeReply(x, true, true) }

func cmdHkeys(x *command.Call) { wholeReply(x, true, false) }

func cmdHvals(x *command.Call) { wholeReply(x, false, true) }

// wholeReply replies with all fields of a hash, or their values, or both.
func wholeReply(x *command.Call, fields, values bool) {
	t, ok := wholeHash(x)
	if !ok || x.RunApart(t.Value().Size+2*command.ElementReply*t.Len()) {
		return
	}
	x.Elements(func() error {
		n, err := t.LenLive()
		if err != nil {
			return err
		}
		if fields && values {
			x.Map(int(n))
		} else {
			x.Array(int(n))
		}
		return t.All(func(field, value []byte) bool {
			if fields {
				x.Bulk(field)
			}
			if values {
				x.Bulk(value)
			}
			return true
		})
	})
}

func cmdHscan(x *command.Call) { x.TableScan(store.Hash) }

func cmdHrandfield(x *command.Call) { x.DrawElements(store.Hash, "withvalues") }
