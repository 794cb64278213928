package resp

import (
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// What Redis keeps in a compact form, which OBJECT ENCODING tells: hashes of so many
// fields, none of them nor their values longer than so many bytes.
const (
	compactFields = 512
	compactLength = 64
)

// hash opens the hash at args[1] to change it, or to look at one field.
func (x *Call) hash() (*collection.Table, bool) {
	return &x.table, x.open(&x.table, x.args[1], store.Hash)
}

// wholeHash is hash for commands that look at more than one field.
func (x *Call) wholeHash() (*collection.Table, bool) {
	return &x.table, x.openWhole(&x.table, x.args[1], store.Hash)
}

// setField gives a field of a hash its value.
func (x *Call) setField(t *collection.Table, field, value []byte) (added bool, err error) {
	added, err = t.Set(field, value)
	if err == nil && (isLargeField(field, value) || t.Len() > compactFields) {
		t.MarkLarge()
	}
	return added, err
}

// isLargeField reports whether Redis keeps a hash with the field in no compact form.
func isLargeField(field, value []byte) bool {
	return len(field) > compactLength || len(value) > compactLength
}

// setFields gives the fields in args[2:] the values behind them, and reports how many are
// new. It has replied, and returns false, if that could not be.
func (x *Call) setFields() (added int64, ok bool) {
	if len(x.args)%2 != 0 {
		x.Error("ERR wrong number of arguments for '" + x.cmd.full + "' command")
		return 0, false
	}
	for i := 2; i < len(x.args); i += 2 {
		if !x.fieldFits(x.args[i]) {
			return 0, false
		}
	}
	t, ok := x.hash()
	if !ok {
		return 0, false
	}
	for i := 2; i < len(x.args); i += 2 {
		isNew, err := x.setField(t, x.args[i], x.args[i+1])
		if err != nil {
			x.failPart(i > 2, err)
			return 0, false
		}
		if isNew {
			added++
		}
	}
	x.unit.Note(store.EventHash, "hset", x.args[1])
	return added, true
}

func cmdHset(x *Call) {
	if added, ok := x.setFields(); ok {
		x.Int(added)
	}
}

func cmdHmset(x *Call) {
	if _, ok := x.setFields(); ok {
		x.OK()
	}
}

func cmdHsetnx(x *Call) {
	t, ok := x.hash()
	if !ok || !x.fieldFits(x.args[2]) {
		return
	}
	_, found, err := t.Get(x.args[2])
	if err == nil && !found {
		_, err = x.setField(t, x.args[2], x.args[3])
	}
	if err != nil {
		x.fail(err)
		return
	}
	if !found {
		x.unit.Note(store.EventHash, "hset", x.args[1])
	}
	x.Bool(!found)
}

func cmdHget(x *Call) {
	if value, found, ok := x.field(); ok {
		if found {
			x.Bulk(value)
		} else {
			x.Null()
		}
	}
}

// field looks at the field args[2] of the hash at args[1]. It has replied, and returns
// false, if that cannot be read.
func (x *Call) field() (value []byte, found, ok bool) {
	t, ok := x.hash()
	if !ok {
		return nil, false, false
	}
	value, found, err := t.Get(x.args[2])
	if err != nil {
		x.fail(err)
	}
	return value, found, err == nil
}

func cmdHexists(x *Call) {
	if _, found, ok := x.field(); ok {
		x.Bool(found)
	}
}

func cmdHstrlen(x *Call) {
	if value, _, ok := x.field(); ok {
		x.Int(int64(len(value)))
	}
}

func cmdHlen(x *Call) {
	if t, ok := x.hash(); ok {
		x.Int(t.Len())
	}
}

func cmdHmget(x *Call) {
	t, ok := x.wholeHash()
	if !ok {
		return
	}
	x.elements(func() error {
		x.Array(len(x.args) - 2)
		for _, field := range x.args[2:] {
			value, found, err := t.Get(field)
			switch {
			case err != nil:
				return err
			case !found:
				x.Null()
			case !x.keepable(int64(len(value)) + elementReply):
				return limitError(x.overOutputBuffer())
			default:
				x.Bulk(value)
			}
		}
		return nil
	})
}

func cmdHdel(x *Call) {
	t, ok := x.hash()
	if !ok {
		return
	}
	n := int64(0)
	for _, field := range x.args[2:] {
		gone, err := t.Delete(field)
		if err != nil {
			x.failPart(n > 0, err)
			return
		}
		if gone {
			n++
		}
	}
	if n > 0 {
		x.removed(x.args[1], t, store.EventHash, "hdel")
	}
	x.Int(n)
}

func cmdHgetall(x *Call) { x.wholeReply(true, true) }

func cmdHkeys(x *Call) { x.wholeReply(true, false) }

func cmdHvals(x *Call) { x.wholeReply(false, true) }

// wholeReply replies with all fields of a hash, or their values, or both.
func (x *Call) wholeReply(fields, values bool) {
	t, ok := x.wholeHash()
	if !ok || x.deferred(t.Value().Size+2*elementReply*t.Len()) {
		return
	}
	x.elements(func() error {
		if fields && values {
			x.Map(int(t.Len()))
		} else {
			x.Array(int(t.Len()))
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

func cmdHscan(x *Call) { x.tableScan(store.Hash) }

func cmdHrandfield(x *Call) { x.drawElements(store.Hash, "withvalues") }
