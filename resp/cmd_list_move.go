package resp

import (
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// side is the end of a list that a word means: the front for LEFT. It has replied, and
// returns false, if it means none.
func (x *Call) side(word []byte) (front, ok bool) {
	front = wire.EqualFold(word, "left")
	if !front && !wire.EqualFold(word, "right") {
		x.Error(msgSyntax)
		return false, false
	}
	return front, true
}

func cmdRpoplpush(x *Call) { x.moveElement(false, true) }

func cmdLmove(x *Call) {
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
func (x *Call) moveElement(fromFront, toFront bool) {
	lists := make([]collection.List, 2)
	src, dst := &lists[0], &lists[1]
	if !x.openList(src, x.args[1]) {
		return
	}
	if !src.Value().Exists() {
		x.Null()
		return
	}
	if !x.openList(dst, x.args[2]) {
		return
	}
	if string(x.args[1]) == string(x.args[2]) {
		if src.Len() == 1 {
			x.rotateSingle(src, fromFront, toFront)
			return
		}
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

// rotateSingle moves the only element of the list at args[1] to an end of the same list. The
// list never becomes empty, so its expiry stays; for WATCH and for readers it is changed.
func (x *Call) rotateSingle(l *collection.List, fromFront, toFront bool) {
	element, ok, err := l.Index(0)
	if err == nil && ok {
		x.Bulk(element)
		err = l.Set(0, element)
	}
	if err != nil || !ok {
		x.abort(err)
		return
	}
	x.unit.Note(store.EventList, sideEvent(toFront, "lpush", "rpush"), x.args[2])
	x.unit.Note(store.EventList, sideEvent(fromFront, "lpop", "rpop"), x.args[1])
}

// popSome removes elements from the list that is open, at a key, and replies with both.
func popSome(x *Call, key []byte, o mpop) {
	if x.keepsElements(&x.list, min(o.most, x.list.Len())) {
		x.Array(2)
		x.Bulk(key)
		x.popAll(key, &x.list, o.most, o.first)
	}
}

// listThere opens the list at a key, and tells whether there is one.
func listThere(x *Call, key []byte) (there, ok bool) {
	ok = x.openList(&x.list, key)
	return ok && x.list.Value().Exists(), ok
}

// cmdLmpop removes elements from the first of some lists that has any.
func cmdLmpop(x *Call) {
	if o, ok := x.parseMpop(1, "left", "right"); ok {
		x.popFirst(o, listThere, popSome)
	}
}
