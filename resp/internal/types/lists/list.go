package lists

import (
	"cmp"
	"math"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

const msgIndexRange = "ERR index out of range"

// openList opens the list at a key to change it, or to look at one element. It has replied,
// and returns false, if that cannot be.
func openList(x *command.Call, l *collection.List, key []byte) bool {
	Limit(x, l)
	return x.Opened(key, l.Value(), l.Open(x.Unit, key))
}

// OpenWholeList is openList for commands that look at more than one element.
func OpenWholeList(x *command.Call, l *collection.List, key []byte) bool {
	Limit(x, l)
	return x.Opened(key, l.Value(), l.OpenWhole(x.Unit, key))
}

// Limit says in which forms a list may be kept.
func Limit(x *command.Call, l *collection.List) {
	l.MaxPacked, l.Chunks = int(x.Limits.Packed.Load()), x.Limits.Chunks.Load()
}

// listAt opens the list at args[1].
func listAt(x *command.Call) (*collection.List, bool) {
	return &x.List, openList(x, &x.List, x.Args[1])
}

func cmdLpush(x *command.Call) { push(x, true, false) }

func cmdRpush(x *command.Call) { push(x, false, false) }

func cmdLpushx(x *command.Call) { push(x, true, true) }

func cmdRpushx(x *command.Call) { push(x, false, true) }

// push adds args[2:] to the list at args[1], or only if there is one.
func push(x *command.Call, front, onlyIfThere bool) {
	l, ok := listAt(x)
	if !ok {
		return
	}
	if onlyIfThere && !l.Value().Exists() {
		x.Int(0)
		return
	}
	large := IsLargeWith(x, l, x.Args[2:]...)
	n := l.Len()
	if err := l.Push(front, x.Args[2:]...); err != nil {
		x.FailPart(l.Len() > n, err)
		return
	}
	l.SetLarge(large)
	x.Unit.Note(store.EventList, sideEvent(front, "lpush", "rpush"), x.Args[1])
	x.Int(l.Len())
}

// sideEvent is the name of an event at one end of a list.
func sideEvent(front bool, left, right string) string {
	if front {
		return left
	}
	return right
}

func cmdLlen(x *command.Call) {
	if l, ok := listAt(x); ok {
		x.Int(l.Len())
	}
}

func cmdLindex(x *command.Call) {
	l, ok := listAt(x)
	if !ok {
		return
	}
	if !l.Value().Exists() {
		x.Null()
		return
	}
	i, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	element, ok, err := l.Index(i)
	switch {
	case err != nil:
		x.Fail(err)
	case !ok:
		x.Null()
	default:
		x.Bulk(element)
	}
}

func cmdLset(x *command.Call) {
	l, ok := listAt(x)
	if !ok {
		return
	}
	if !l.Value().Exists() {
		x.Error(command.MsgNoKey)
		return
	}
	i, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	if i = command.Numbered(i, l.Len()); i < 0 || i >= l.Len() {
		x.Error(msgIndexRange)
		return
	}
	large := IsLargeWith(x, l, x.Args[3]) // Redis counts it beside the one that it replaces
	if err := l.Set(i, x.Args[3]); err != nil {
		x.Fail(err)
		return
	}
	l.SetLarge(large)
	shrunk(x, l)
	x.Unit.Note(store.EventList, "lset", x.Args[1])
	x.OK()
}

// bounds are args[2] and args[3], numbers of elements. It has replied, and returns false, if
// they are none.
func bounds(x *command.Call) (from, to int64, ok bool) {
	from, ok = wire.ParseInt(x.Args[2])
	if ok {
		to, ok = wire.ParseInt(x.Args[3])
	}
	if !ok {
		x.Error(command.MsgNotInteger)
	}
	return from, to, ok
}

func cmdLrange(x *command.Call) {
	from, to, ok := bounds(x)
	if !ok {
		return
	}
	l := &x.List
	Limit(x, l)
	near, err := l.OpenRange(x.Unit, x.Args[1], func(n int64) (int64, int64) { return command.Within(from, to, n) })
	if !x.Opened(x.Args[1], l.Value(), err) {
		return
	}
	if from, to = command.Within(from, to, l.Len()); from > to {
		x.Array(0)
		return
	}
	n := to - from + 1
	if x.RunApart(command.Share(l.Value().Size, l.Len(), n) + n*command.ElementReply) {
		return
	}
	x.Elements(func() error {
		x.Array(int(n))
		if near != nil {
			for i := range near.Len() {
				x.Bulk(near.At(i))
			}
			return nil
		}
		return listElements(x, l, from, to, false)
	})
}

// listElements appends elements to a reply whose size was estimated from the average.
func listElements(x *command.Call, l *collection.List, from, to int64, back bool) error {
	var tooLarge error
	err := l.Range(from, to, back, func(_ int64, element []byte) bool {
		if tooLarge = x.FitsElement(element); tooLarge == nil {
			x.Bulk(element)
		}
		return tooLarge == nil
	})
	return cmp.Or(err, tooLarge)
}

func cmdLtrim(x *command.Call) {
	from, to, ok := bounds(x)
	if !ok {
		return
	}
	l, ok := listAt(x)
	if !ok {
		return
	}
	if l.Value().Exists() {
		from, to = command.Within(from, to, l.Len())
		if err := l.Trim(from, to); err != nil {
			x.Fail(err)
			return
		}
		popped(x, x.Args[1], l, "ltrim")
	}
	x.OK()
}

func cmdLinsert(x *command.Call) {
	behind := wire.EqualFold(x.Args[2], "after")
	if !behind && !wire.EqualFold(x.Args[2], "before") {
		x.Error(command.MsgSyntax)
		return
	}
	l, ok := listAt(x)
	if !ok {
		return
	}
	if !l.Value().Exists() {
		x.Int(0)
		return
	}
	at := int64(-1)
	err := l.Range(0, math.MaxInt64, false, func(i int64, element []byte) bool {
		if string(element) == string(x.Args[3]) {
			at = i
		}
		return at < 0
	})
	if err == nil && at >= 0 {
		if behind {
			at++
		}
		large := IsLargeWith(x, l, x.Args[4])
		if err = l.Insert(at, x.Args[4]); err == nil {
			l.SetLarge(large)
		}
	}
	switch {
	case err != nil:
		x.Fail(err)
	case at < 0:
		x.Int(-1)
	default:
		x.Unit.Note(store.EventList, "linsert", x.Args[1])
		x.Int(l.Len())
	}
}

func cmdLrem(x *command.Call) {
	n, ok := wire.ParseInt(x.Args[2])
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
		return
	case n == math.MinInt64:
		x.Error(msgNoOpposite)
		return
	}
	l, ok := listAt(x)
	if !ok {
		return
	}
	back := n < 0
	if back {
		n = -n
	}
	var found []int64
	err := l.Range(0, math.MaxInt64, back, func(i int64, element []byte) bool {
		if string(element) == string(x.Args[3]) {
			found = append(found, i)
		}
		return int64(len(found)) != n || n == 0
	})
	if back {
		slices.Reverse(found)
	}
	if err == nil {
		err = l.Remove(found)
	}
	if err != nil {
		x.Fail(err)
		return
	}
	if len(found) > 0 {
		popped(x, x.Args[1], l, "lrem")
	}
	x.Int(int64(len(found)))
}
