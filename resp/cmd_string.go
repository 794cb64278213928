package resp

import "github.com/ringside-kv/ringside/store"

func cmdGet(x *Call) {
	v, ok := x.getString(x.args[1])
	if !ok {
		return
	}
	if !v.Exists() {
		x.Null()
		return
	}
	x.stringRange(x.args[1], v, 0, v.Size)
}

func cmdSet(x *Call) {
	o, msg := parseSetOptions(x.args[3:], true)
	if msg != "" {
		x.Error(msg)
		return
	}
	expiry, msg := x.expiryAt(&o)
	if msg != "" {
		x.Error(msg)
		return
	}
	x.set(x.args[1], x.args[2], &o, expiry)
}

// set does what SET does, once its options are known to be right.
func (x *Call) set(key, value []byte, o *setOptions, expiry int64) {
	x.unit.Blind(!o.get && !o.nx && !o.xx)
	defer x.unit.Blind(false)
	v, err := x.unit.Get(key)
	if err != nil {
		x.fail(err)
		return
	}
	at := len(x.Buf)
	if o.get {
		x.looked(key, &v)
	}
	switch {
	case o.get && v.Exists() && v.Type != store.String:
		x.Error(msgWrongType)
		return
	case o.get && !x.oldString(key, v):
		return
	case o.nx && v.Exists() || o.xx && !v.Exists():
		if !o.get {
			x.Null()
		}
		return
	}
	if o.keepTTL {
		expiry = v.Expiry
	}
	if err := x.unit.PutString(key, v, value, expiry, false); err != nil {
		x.Buf = x.Buf[:at]
		x.fail(err)
		return
	}
	x.unit.Note(store.EventString, "set", key)
	if o.form != noTime {
		x.unit.Note(store.EventGeneric, "expire", key)
	}
	if !o.get {
		x.OK()
	}
}

// oldString replies with the string at key, or null, for commands that go on to
// change it. It reports whether it could be read.
func (x *Call) oldString(key []byte, v store.Value) bool {
	if !v.Exists() {
		x.Null()
		return true
	}
	return x.wholeString(key, v)
}

func cmdSetex(x *Call) { x.setex(timeEX) }

func cmdPsetex(x *Call) { x.setex(timePX) }

func (x *Call) setex(form timeForm) {
	o := setOptions{form: form, time: x.args[2]}
	expiry, msg := x.expiryAt(&o)
	if msg != "" {
		x.Error(msg)
		return
	}
	x.set(x.args[1], x.args[3], &o, expiry)
}

func cmdSetnx(x *Call) {
	v, err := x.unit.Get(x.args[1])
	if err == nil && !v.Exists() {
		err = x.unit.PutString(x.args[1], v, x.args[2], 0, false)
	}
	if err != nil {
		x.fail(err)
		return
	}
	if !v.Exists() {
		x.unit.Note(store.EventString, "set", x.args[1])
	}
	x.Bool(!v.Exists())
}

func cmdGetset(x *Call) {
	key := x.args[1]
	at := len(x.Buf)
	v, ok := x.readString(key)
	if !ok || !x.oldString(key, v) {
		return
	}
	if err := x.unit.PutString(key, v, x.args[2], 0, false); err != nil {
		x.Buf = x.Buf[:at]
		x.fail(err)
		return
	}
	x.unit.Note(store.EventString, "set", key)
}

func cmdGetdel(x *Call) {
	v, ok := x.readString(x.args[1])
	if ok && x.oldString(x.args[1], v) && v.Exists() {
		x.unit.Delete(x.args[1], v)
		x.unit.Note(store.EventGeneric, "del", x.args[1])
	}
}

func cmdGetex(x *Call) {
	key := x.args[1]
	o, msg := parseSetOptions(x.args[2:], false)
	if msg != "" {
		x.Error(msg)
		return
	}
	v, ok := x.readString(key)
	if !ok {
		return
	}
	if !v.Exists() {
		x.Null()
		return
	}
	expiry, msg := x.expiryAt(&o)
	if msg != "" {
		x.Error(msg)
		return
	}
	if !x.wholeString(key, v) {
		return
	}
	switch {
	case expiry != 0 && expiry <= x.unit.Now():
		x.unit.Delete(key, v)
		x.unit.Note(store.EventGeneric, "del", key)
	case expiry != 0:
		x.unit.SetExpiry(key, v, expiry)
		x.unit.Note(store.EventGeneric, "expire", key)
	case o.persist && v.Expiry != 0:
		x.unit.SetExpiry(key, v, 0)
		x.unit.Note(store.EventGeneric, "persist", key)
	}
}
