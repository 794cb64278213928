package resp

import (
	"math"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

func cmdDel(x *Call) {
	n := int64(0)
	for _, key := range x.args[1:] {
		v, err := x.unit.Peek(key)
		if err != nil {
			x.abort(err)
			return
		}
		if v.Exists() {
			x.unit.Delete(key, v)
			x.unit.Note(store.EventGeneric, "del", key)
			n++
		}
	}
	x.Int(n)
}

// cmdUnlink is DEL, which leaves what is large to the background as well.
func cmdUnlink(x *Call) { cmdDel(x) }

func cmdExists(x *Call) { x.countKeys(x.unit.Peek) }

func cmdTouch(x *Call) { x.countKeys(x.unit.Get) }

// countKeys replies with how many of the arguments are keys that exist.
func (x *Call) countKeys(look func([]byte) (store.Value, error)) {
	n := int64(0)
	for _, key := range x.args[1:] {
		v, err := look(key)
		if err != nil {
			x.fail(err)
			return
		}
		x.saw(key, &v)
		if v.Exists() {
			n++
		}
	}
	x.Int(n)
}

func cmdType(x *Call) {
	if v, ok := x.peek(x.args[1]); ok {
		x.Simple(v.Type.String())
	}
}

// peek looks at a key without using it. It has replied, and returns false, if the
// key cannot be read.
func (x *Call) peek(key []byte) (store.Value, bool) {
	v, err := x.unit.Peek(key)
	if err != nil {
		x.fail(err)
		return v, false
	}
	x.saw(key, &v)
	return v, true
}

// get returns the value of a key of any type. It has replied, and returns false,
// if the key cannot be read.
func (x *Call) get(key []byte) (store.Value, bool) {
	v, err := x.unit.Get(key)
	if err != nil {
		x.fail(err)
		return v, false
	}
	x.saw(key, &v)
	return v, true
}

func cmdRename(x *Call) {
	if x.rename(true) {
		x.OK()
	}
}

func cmdRenamenx(x *Call) {
	if x.rename(false) {
		x.Int(1)
	}
}

// rename moves args[1] to args[2]. It has replied, and returns false, if it did
// not do so; the same name twice counts as done, or as taken.
func (x *Call) rename(replace bool) bool {
	src, dst := x.args[1], x.args[2]
	from, ok := x.get(src)
	if !ok {
		return false
	}
	if !from.Exists() {
		x.Error(msgNoKey)
		return false
	}
	same := string(src) == string(dst)
	if same && replace {
		return true
	}
	to, ok := x.peek(dst)
	if !ok {
		return false
	}
	if to.Exists() && !replace {
		x.Int(0)
		return false
	}
	if err := x.unit.Rename(src, from, dst, to); err != nil {
		x.fail(err)
		return false
	}
	x.replacedNew(dst, to)
	x.unit.Note(store.EventGeneric, "rename_from", src)
	x.unit.Note(store.EventGeneric, "rename_to", dst)
	return true
}

// replacedNew notes that a key is new, for commands to which one that they replace is gone
// before: they put a new one in its place.
func (x *Call) replacedNew(key []byte, old store.Value) {
	if old.Exists() {
		x.unit.Note(store.EventNew, "new", key)
	}
}

func cmdCopy(x *Call) {
	src, dst := x.args[1], x.args[2]
	replace, ok := x.copyOptions(x.args[3:])
	if !ok {
		return
	}
	if string(src) == string(dst) {
		x.Error("ERR source and destination objects are the same")
		return
	}
	from, ok := x.get(src)
	if !ok {
		return
	}
	x.looked(src, &from)
	to, ok := x.peek(dst)
	if !ok {
		return
	}
	if !from.Exists() || to.Exists() && !replace {
		x.Int(0)
		return
	}
	if err := x.unit.Copy(src, from, dst, to); err != nil {
		x.fail(err)
		return
	}
	x.replacedNew(dst, to)
	x.unit.Note(store.EventGeneric, "copy_to", dst)
	x.Int(1)
}

// copyOptions parses the options of COPY; it has replied if they are wrong.
func (x *Call) copyOptions(args [][]byte) (replace, ok bool) {
	elsewhere := false // Redis looks at the options first
	for ; len(args) > 0; args = args[1:] {
		switch {
		case wire.EqualFold(args[0], "replace"):
			replace = true
		case wire.EqualFold(args[0], "db") && len(args) > 1:
			n, ok := wire.ParseInt(args[1])
			switch {
			case !ok:
				x.Error(msgNotInteger)
				return false, false
			case n < math.MinInt32 || n > math.MaxInt32:
				x.Error(msgDatabaseRange)
				return false, false
			case n < 0 || n >= redisDatabases:
				x.Error(msgNoDatabase)
				return false, false
			}
			elsewhere = n != 0
			args = args[1:]
		default:
			x.Error(msgSyntax)
			return false, false
		}
	}
	if elsewhere {
		x.Error(msgNoDatabase)
	}
	return replace, !elsewhere
}

// redisDatabases is how many databases Redis has by default.
const redisDatabases = 16
