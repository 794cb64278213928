package keys

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

func cmdDel(x *command.Call) {
	n := int64(0)
	for _, key := range x.Args[1:] {
		v, err := x.Unit.Head(key)
		if err != nil {
			x.Abort(err)
			return
		}
		if v.Exists() {
			x.Unit.Delete(key, v)
			x.Unit.Note(store.EventGeneric, "del", key)
			n++
		}
	}
	x.Int(n)
}

// cmdUnlink is DEL, which leaves what is large to the background as well.
func cmdUnlink(x *command.Call) { cmdDel(x) }

func cmdExists(x *command.Call) { countKeys(x, x.Unit.Peek) }

func cmdTouch(x *command.Call) {
	if x.Unit.NoTouch() { // of all commands it alone touches all the same
		x.Unit.SetNoTouch(false)
		defer x.Unit.SetNoTouch(true)
	}
	countKeys(x, x.Unit.Get)
}

// countKeys replies with how many of the arguments are keys that exist.
func countKeys(x *command.Call, look func([]byte) (store.Value, error)) {
	n := int64(0)
	for _, key := range x.Args[1:] {
		v, err := look(key)
		if err != nil {
			x.Fail(err)
			return
		}
		x.CountRead(key, &v)
		if v.Exists() {
			n++
		}
	}
	x.Int(n)
}

func cmdType(x *command.Call) {
	if v, ok := peek(x, x.Args[1]); ok {
		x.Simple(v.Type.String())
	}
}

// peek looks at a key without using it. It has replied, and returns false, if the
// key cannot be read.
func peek(x *command.Call, key []byte) (store.Value, bool) {
	v, err := x.Unit.Peek(key)
	if err != nil {
		x.Fail(err)
		return v, false
	}
	x.CountRead(key, &v)
	return v, true
}

// get returns the value of a key of any type. It has replied, and returns false,
// if the key cannot be read.
func get(x *command.Call, key []byte) (store.Value, bool) {
	v, err := x.Unit.Get(key)
	if err != nil {
		x.Fail(err)
		return v, false
	}
	x.CountRead(key, &v)
	return v, true
}

func cmdRename(x *command.Call) {
	if rename(x, true) {
		x.OK()
	}
}

func cmdRenamenx(x *command.Call) {
	if rename(x, false) {
		x.Int(1)
	}
}

// rename moves args[1] to args[2]. It has replied, and returns false, if it did
// not do so; the same name twice counts as done, or as taken.
func rename(x *command.Call, replace bool) bool {
	src, dst := x.Args[1], x.Args[2]
	from, ok := get(x, src)
	if !ok {
		return false
	}
	if !from.Exists() {
		x.Error(command.MsgNoKey)
		return false
	}
	same := string(src) == string(dst)
	if same && replace {
		return true
	}
	to, ok := peek(x, dst)
	if !ok {
		return false
	}
	if to.Exists() && !replace {
		x.Int(0)
		return false
	}
	if err := x.Unit.Rename(src, from, dst, to); err != nil {
		x.Fail(err)
		return false
	}
	replacedNew(x, dst, to)
	x.Unit.Note(store.EventGeneric, "rename_from", src)
	x.Unit.Note(store.EventGeneric, "rename_to", dst)
	return true
}

// replacedNew notes that a key is new, for commands to which one that they replace is gone
// before: they put a new one in its place.
func replacedNew(x *command.Call, key []byte, old store.Value) {
	if old.Exists() {
		x.Unit.Note(store.EventNew, "new", key)
	}
}

func cmdCopy(x *command.Call) {
	src, dst := x.Args[1], x.Args[2]
	replace, ok := copyOptions(x, x.Args[3:])
	if !ok {
		return
	}
	if string(src) == string(dst) {
		x.Error("ERR source and destination objects are the same")
		return
	}
	from, ok := get(x, src)
	if !ok {
		return
	}
	x.CountLookup(src, &from)
	to, ok := peek(x, dst)
	if !ok {
		return
	}
	if !from.Exists() || to.Exists() && !replace {
		x.Int(0)
		return
	}
	if err := x.Unit.Copy(src, from, dst, to); err != nil {
		x.Fail(err)
		return
	}
	replacedNew(x, dst, to)
	x.Unit.Note(store.EventGeneric, "copy_to", dst)
	x.Int(1)
}

// copyOptions parses the options of COPY; it has replied if they are wrong.
func copyOptions(x *command.Call, args [][]byte) (replace, ok bool) {
	for ; len(args) > 0; args = args[1:] {
		switch {
		case wire.EqualFold(args[0], "replace"):
			replace = true
		case wire.EqualFold(args[0], "db") && len(args) > 1:
			n, ok := wire.ParseInt(args[1])
			switch {
			case !ok:
				x.Error(command.MsgNotInteger)
				return false, false
			case n < math.MinInt32 || n > math.MaxInt32:
				x.Error(command.MsgDatabaseRange)
				return false, false
			case n < 0 || n >= int64(x.Host.Databases()):
				x.Error(command.MsgNoDatabase)
				return false, false
			}
			args = args[1:] // the destination is stored there

		default:
			x.Error(command.MsgSyntax)
			return false, false
		}
	}
	return replace, true
}

// databaseOfCopy is COPY's [command.Row.OtherDatabase]. The last DB counts.
func databaseOfCopy(args [][]byte) (at int) {
	for i := 3; i < len(args)-1; i++ {
		if wire.EqualFold(args[i], "db") {
			i++
			at = i
		}
	}
	return at
}

// Move moves a key to another database: args[2] to args[3].
func Move(x *command.Call) {
	src, dst := x.Args[2], x.Args[3]
	from, ok := get(x, src)
	if !ok {
		return
	}
	to, ok := peek(x, dst)
	if !ok {
		return
	}
	if !from.Exists() || to.Exists() {
		x.Int(0)
		return
	}
	if err := x.Unit.Rename(src, from, dst, to); err != nil {
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventGeneric, "move_from", src)
	x.Unit.Note(store.EventGeneric, "move_to", dst)
	x.Int(1)
}
