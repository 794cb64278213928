package lists

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// popped notes that elements of a list were removed, its form then, and the key if they were its last.
func popped(x *command.Call, key []byte, l *collection.List, name string) {
	x.Unit.Note(store.EventList, name, key)
	if l.Len() == 0 {
		x.Unit.Note(store.EventGeneric, "del", key)
		return
	}
	shrunk(x, l)
}

func cmdLpop(x *command.Call) { pop(x, true) }

func cmdRpop(x *command.Call) { pop(x, false) }

// pop removes one element, or as many as args[2] says, and replies with them.
func pop(x *command.Call, front bool) {
	if len(x.Args) > 3 {
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return
	}
	n, several := int64(1), len(x.Args) == 3
	if several {
		var ok bool
		if n, ok = wire.ParseInt(x.Args[2]); !ok || n < 0 {
			x.Error(command.MsgNotPositive)
			return
		}
	}
	l, ok := listAt(x)
	switch {
	case !ok:
	case !l.Value().Exists() && several:
		x.NullArray()
	case !l.Value().Exists():
		x.Null()
	case several:
		popAll(x, x.Args[1], l, n, front)
	default:
		if _, ok := popOne(x, l, front); ok {
			popped(x, x.Args[1], l, sideEvent(front, "lpop", "rpop"))
		}
	}
}

// popOne replies with an element that it removes from a list that has one.
func popOne(x *command.Call, l *collection.List, front bool) (element []byte, ok bool) {
	element, ok, err := l.Pop(front)
	if err != nil || !ok {
		x.Abort(err)
		return nil, false
	}
	x.Bulk(element)
	return element, true
}

// popAll replies with up to n elements that it removes.
func popAll(x *command.Call, key []byte, l *collection.List, n int64, front bool) {
	n = min(n, l.Len())
	from, to := int64(0), n-1
	if !front {
		from, to = l.Len()-n, l.Len()-1
	}
	if !keepsElements(x, l, n) {
		return
	}
	at := len(x.Buf)
	x.Array(int(n))
	if n == 0 {
		return
	}
	if err := listElements(x, l, from, to, !front); err != nil {
		x.Buf = x.Buf[:at]
		x.Fail(err) // nothing is removed yet
		return
	}
	from, to = n, l.Len()-1
	if !front {
		from, to = 0, l.Len()-1-n
	}
	if err := l.Trim(from, to); err != nil {
		x.Buf = x.Buf[:at]
		x.Abort(err)
		return
	}
	popped(x, key, l, sideEvent(front, "lpop", "rpop"))
}

// keepsElements reports whether a reply of n elements may be kept; otherwise it has replied.
func keepsElements(x *command.Call, l *collection.List, n int64) bool {
	return x.FitsElements(l.Value(), l.Len(), n)
}
