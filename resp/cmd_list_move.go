package resp

import (
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// side is the end of a list that a word means: the front for LEFT. It has replied, and
// returns false, if it means none.
func (x *call) side(word []byte) (front, ok bool) {
	front = equalFold(word, "left")
	if !front && !equalFold(word, "right") {
		x.err(msgSyntax)
		return false, false
	}
	return front, true
}

func cmdRpoplpush(x *call) { x.moveElement(false, true) }

func cmdLmove(x *call) {
	from, ok := x.side(x.args[3])
	if !ok {
		return
	}
	if to, ok := x.side(x.args[4]); ok {
		x.moveElement(from, to)
	}
}

// moveElement moves an element from an end of the list at args[1] to one of that at args[2],
// and replies with it.
func (x *call) moveElement(fromFront, toFront bool) {
	lists := make([]collection.List, 2)
	src, dst := &lists[0], &lists[1]
	if !x.openList(src, x.args[1]) {
		return
	}
	if !src.Value().Exists() {
		x.null()
		return
	}
	if !x.openList(dst, x.args[2]) {
		return
	}
	if string(x.args[1]) == string(x.args[2]) {
		dst = src
		x.unit.Replaces(true)
		defer x.unit.Replaces(false)
	}
	if element, ok := x.popOne(src, fromFront); ok {
		if err := dst.Push(element, toFront); err != nil {
			x.abort(err)
			return
		}
		x.unit.Note(store.EventList, sideEvent(toFront, "lpush", "rpush"), x.args[2])
		x.popped(x.args[1], src, sideEvent(fromFront, "lpop", "rpop"))
	}
}

// An lmpop is what LMPOP is to take: up to so many elements from an end.
type lmpop struct {
	front bool
	most  int64
}

// parseLmpop reads the arguments from the number of keys on, which is args[at]. It has
// replied, and returns false, if they are none of LMPOP.
func (x *call) parseLmpop(at int) (keys [][]byte, o lmpop, ok bool) {
	n, ok := parseInt(x.args[at])
	if !ok || n < 1 {
		x.err("ERR numkeys should be greater than 0")
		return nil, o, false
	}
	at++
	if n > int64(len(x.args)-at-1) {
		x.err(msgSyntax)
		return nil, o, false
	}
	keys, rest := x.args[at:at+int(n)], x.args[at+int(n):]
	if o.front, ok = x.side(rest[0]); !ok {
		return nil, o, false
	}
	o.most = 1
	switch rest = rest[1:]; {
	case len(rest) == 0:
	case len(rest) != 2 || !equalFold(rest[0], "count"):
		x.err(msgSyntax)
		return nil, o, false
	default:
		if o.most, ok = parseInt(rest[1]); !ok || o.most < 1 {
			x.err("ERR count should be greater than 0")
			return nil, o, false
		}
	}
	return keys, o, true
}

// popSome removes elements from the list that is open, at a key, and replies with both.
func (x *call) popSome(key []byte, o lmpop) {
	if x.keepsElements(&x.list, min(o.most, x.list.Len())) {
		x.array(2)
		x.bulk(key)
		x.popAll(key, &x.list, o.most, o.front)
	}
}

// cmdLmpop removes elements from the first of some lists that has any.
func cmdLmpop(x *call) {
	keys, o, ok := x.parseLmpop(1)
	if !ok {
		return
	}
	for _, key := range keys {
		if !x.openList(&x.list, key) {
			return
		}
		if x.list.Value().Exists() {
			x.popSome(key, o)
			return
		}
	}
	x.nullArray()
}
