package resp

import (
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// popped notes that elements of a list were removed, and the key if they were its last.
func (x *Call) popped(key []byte, l *collection.List, name string) {
	x.unit.Note(store.EventList, name, key)
	if l.Len() == 0 {
		x.unit.Note(store.EventGeneric, "del", key)
	}
}

func cmdLpop(x *Call) { x.pop(true) }

func cmdRpop(x *Call) { x.pop(false) }

// pop removes one element, or as many as args[2] says, and replies with them.
func (x *Call) pop(front bool) {
	if len(x.args) > 3 {
		x.Error("ERR wrong number of arguments for '" + x.cmd.full + "' command")
		return
	}
	n, several := int64(1), len(x.args) == 3
	if several {
		var ok bool
		if n, ok = wire.ParseInt(x.args[2]); !ok || n < 0 {
			x.Error(msgNotPositive)
			return
		}
	}
	l, ok := x.listAt()
	switch {
	case !ok:
	case !l.Value().Exists() && several:
		x.NullArray()
	case !l.Value().Exists():
		x.Null()
	case several:
		x.popAll(x.args[1], l, n, front)
	default:
		if _, ok := x.popOne(l, front); ok {
			x.popped(x.args[1], l, sideEvent(front, "lpop", "rpop"))
		}
	}
}

// popOne replies with an element that it removes from a list that has one.
func (x *Call) popOne(l *collection.List, front bool) (element []byte, ok bool) {
	element, ok, err := l.Pop(front)
	if err != nil || !ok {
		x.abort(err)
		return nil, false
	}
	x.Bulk(element)
	return element, true
}

// popAll replies with up to n elements that it removes.
func (x *Call) popAll(key []byte, l *collection.List, n int64, front bool) {
	n = min(n, l.Len())
	from, to := int64(0), n-1
	if !front {
		from, to = l.Len()-n, l.Len()-1
	}
	if !x.keepsElements(l, n) {
		return
	}
	at := len(x.Buf)
	x.Array(int(n))
	if n == 0 {
		return
	}
	err := l.Range(from, to, !front, func(_ int64, element []byte) bool {
		x.Bulk(element)
		return true
	})
	if err == nil {
		from, to = n, l.Len()-1
		if !front {
			from, to = 0, l.Len()-1-n
		}
		err = l.Trim(from, to)
	}
	if err != nil {
		x.Buf = x.Buf[:at]
		x.abort(err)
		return
	}
	x.popped(key, l, sideEvent(front, "lpop", "rpop"))
}

// keepsElements reports whether a reply of n elements may be kept; otherwise it has replied.
func (x *Call) keepsElements(l *collection.List, n int64) bool {
	return x.keeps(l.Value(), l.Len(), n)
}
