package strings

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

func cmdGet(x *command.Call) {
	v, ok := x.GetString(x.Args[1])
	if !ok {
		return
	}
	if !v.Exists() {
		x.Null()
		return
	}
	x.StringRange(x.Args[1], v, 0, v.Size)
}

func cmdSet(x *command.Call) {
	o, msg := parseSetOptions(x.Args[3:], optionsOfSet)
	if msg != "" {
		x.Error(msg)
		return
	}
	expiry, msg := expiryAt(x, &o)
	if msg != "" {
		x.Error(msg)
		return
	}
	set(x, x.Args[1], x.Args[2], &o, expiry)
}

// set does what SET does, once its options are known to be right.
func set(x *command.Call, key, value []byte, o *setOptions, expiry int64) {
	looks := o.get || o.cond.kind != noCondition // at the value
	x.Unit.IgnoreReads(!looks && !o.nx && !o.xx)
	defer x.Unit.IgnoreReads(false)
	read := x.Unit.Head
	if looks {
		read = x.Unit.Get
	}
	v, err := read(key)
	if err != nil {
		x.Fail(err)
		return
	}
	at := len(x.Buf)
	if o.get {
		x.CountLookup(key, &v)
	}
	if looks && v.Exists() && v.Type != store.String {
		x.Error(command.MsgWrongType)
		return
	}
	refused := o.nx && v.Exists() || o.xx && !v.Exists()
	if o.cond.kind != noCondition {
		holds, ok := o.cond.allows(x, key, v)
		if !ok {
			return
		}
		refused = !holds
	}
	if o.get && !oldString(x, key, v) {
		return
	}
	if refused {
		if !o.get {
			x.Null()
		}
		return
	}
	if o.keepTTL {
		expiry = v.Expiry
	}
	if err := x.Unit.PutString(key, v, value, expiry, false); err != nil {
		x.Buf = x.Buf[:at]
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventString, "set", key)
	if o.form != noTime {
		x.Unit.Note(store.EventGeneric, "expire", key)
	}
	if !o.get {
		x.OK()
	}
}

// oldString replies with the string at key, or null, for commands that go on to
// change it. It reports whether it could be read.
func oldString(x *command.Call, key []byte, v store.Value) bool {
	if !v.Exists() {
		x.Null()
		return true
	}
	return x.WholeString(key, v)
}

func cmdSetex(x *command.Call) { setex(x, timeEX) }

func cmdPsetex(x *command.Call) { setex(x, timePX) }

func setex(x *command.Call, form timeForm) {
	o := setOptions{form: form, time: x.Args[2]}
	expiry, msg := expiryAt(x, &o)
	if msg != "" {
		x.Error(msg)
		return
	}
	set(x, x.Args[1], x.Args[3], &o, expiry)
}

func cmdSetnx(x *command.Call) {
	v, err := x.Unit.Head(x.Args[1])
	if err == nil && !v.Exists() {
		err = x.Unit.PutString(x.Args[1], v, x.Args[2], 0, false)
	}
	if err != nil {
		x.Fail(err)
		return
	}
	if !v.Exists() {
		x.Unit.Note(store.EventString, "set", x.Args[1])
	}
	x.Bool(!v.Exists())
}

func cmdGetset(x *command.Call) {
	key := x.Args[1]
	at := len(x.Buf)
	v, ok := x.ReadString(key)
	if !ok || !oldString(x, key, v) {
		return
	}
	if err := x.Unit.PutString(key, v, x.Args[2], 0, false); err != nil {
		x.Buf = x.Buf[:at]
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventString, "set", key)
}

func cmdGetdel(x *command.Call) {
	v, ok := x.ReadString(x.Args[1])
	if ok && oldString(x, x.Args[1], v) && v.Exists() {
		x.Unit.Delete(x.Args[1], v)
		x.Unit.Note(store.EventGeneric, "del", x.Args[1])
	}
}

func cmdGetex(x *command.Call) {
	key := x.Args[1]
	o, msg := parseSetOptions(x.Args[2:], optionsOfGetex)
	if msg != "" {
		x.Error(msg)
		return
	}
	v, ok := x.ReadString(key)
	if !ok {
		return
	}
	if !v.Exists() {
		x.Null()
		return
	}
	expiry, msg := expiryAt(x, &o)
	if msg != "" {
		x.Error(msg)
		return
	}
	if !x.WholeString(key, v) {
		return
	}
	switch {
	case expiry != 0 && expiry <= x.Unit.Now():
		x.Unit.Delete(key, v)
		x.Unit.Note(store.EventGeneric, "del", key)
	case expiry != 0:
		x.Unit.SetExpiry(key, v, expiry)
		x.Unit.Note(store.EventGeneric, "expire", key)
	case o.persist && v.Expiry != 0:
		x.Unit.SetExpiry(key, v, 0)
		x.Unit.Note(store.EventGeneric, "persist", key)
	}
}
