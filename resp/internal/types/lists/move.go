package lists

import (
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// side is the end of a list that a word means: the front for LEFT. It has replied, and
// returns false, if it means none.
func side(x *command.Call, word []byte) (front, ok bool) {
	front = wire.EqualFold(word, "left")
	if !front && !wire.EqualFold(word, "right") {
		x.Error(command.MsgSyntax)
		return false, false
	}
	return front, true
}

func cmdRpoplpush(x *command.Call) { moveElement(x, false, true) }

func cmdLmove(x *command.Call) {
	from, ok := side(x, x.Args[3])
	if !ok {
		return
	}
	if to, ok := side(x, x.Args[4]); ok {
		moveElement(x, from, to)
	}
}

// moveElement moves an element from an end of the list at args[1] to one of that at args[2],
// and replies with it.
func moveElement(x *command.Call, fromFront, toFront bool) {
	lists := make([]collection.List, 2)
	src, dst := &lists[0], &lists[1]
	if !openList(x, src, x.Args[1]) {
		return
	}
	if !src.Value().Exists() {
		x.Null()
		return
	}
	if !openList(x, dst, x.Args[2]) {
		return
	}
	if string(x.Args[1]) == string(x.Args[2]) {
		if src.Len() == 1 {
			rotateSingle(x, src, fromFront, toFront)
			return
		}
		dst = src
		x.Unit.SetReplacing(true)
		defer x.Unit.SetReplacing(false)
	}
	if element, ok := popOne(x, src, fromFront); ok {
		large := IsLargeWith(x, dst, element)
		if err := dst.Push(toFront, element); err != nil {
			x.Abort(err)
			return
		}
		dst.SetLarge(large)
		x.Unit.Note(store.EventList, sideEvent(toFront, "lpush", "rpush"), x.Args[2])
		popped(x, x.Args[1], src, sideEvent(fromFront, "lpop", "rpop"))
	}
}

// rotateSingle moves the only element of the list at args[1] to an end of the same list. The
// list never becomes empty, so its expiry stays; for WATCH and for readers it is changed.
func rotateSingle(x *command.Call, l *collection.List, fromFront, toFront bool) {
	element, ok, err := l.Index(0)
	if err == nil && ok {
		x.Bulk(element)
		err = l.Set(0, element)
	}
	if err != nil || !ok {
		x.Abort(err)
		return
	}
	x.Unit.Note(store.EventList, sideEvent(toFront, "lpush", "rpush"), x.Args[2])
	x.Unit.Note(store.EventList, sideEvent(fromFront, "lpop", "rpop"), x.Args[1])
}

// popSome removes elements from the list that is open, at a key, and replies with both.
func popSome(x *command.Call, key []byte, o command.Pop) {
	if keepsElements(x, &x.List, min(o.Most, x.List.Len())) {
		x.Array(2)
		x.Bulk(database.Name(key))
		popAll(x, key, &x.List, o.Most, o.First)
	}
}

// listThere opens the list at a key, and tells whether there is one.
func listThere(x *command.Call, key []byte) (there, ok bool) {
	ok = openList(x, &x.List, key)
	return ok && x.List.Value().Exists(), ok
}

// cmdLmpop removes elements from the first of some lists that has any.
func cmdLmpop(x *command.Call) {
	if o, ok := x.ParseMpop(1, "left", "right"); ok {
		x.PopFirst(o, listThere, popSome)
	}
}
