package resp

import (
	"math"
	"slices"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

const msgIndexRange = "ERR index out of range"

// openList opens the list at a key to change it, or to look at one element. It has replied,
// and returns false, if that cannot be.
func (x *Call) openList(l *collection.List, key []byte) bool {
	l.MaxPacked = int(x.limits.packed.Load())
	return x.opened(key, l.Value(), l.Open(x.unit, key))
}

// openWholeList is openList for commands that look at more than one element.
func (x *Call) openWholeList(l *collection.List, key []byte) bool {
	l.MaxPacked = int(x.limits.packed.Load())
	return x.opened(key, l.Value(), l.OpenWhole(x.unit, key))
}

// listAt opens the list at args[1].
func (x *Call) listAt() (*collection.List, bool) { return &x.list, x.openList(&x.list, x.args[1]) }

func cmdLpush(x *Call) { x.push(true, false) }

func cmdRpush(x *Call) { x.push(false, false) }

func cmdLpushx(x *Call) { x.push(true, true) }

func cmdRpushx(x *Call) { x.push(false, true) }

// push adds args[2:] to the list at args[1], or only if there is one.
func (x *Call) push(front, onlyIfThere bool) {
	l, ok := x.listAt()
	if !ok {
		return
	}
	if onlyIfThere && !l.Value().Exists() {
		x.Int(0)
		return
	}
	for i, element := range x.args[2:] {
		if err := l.Push(element, front); err != nil {
			x.failPart(i > 0, err)
			return
		}
	}
	x.unit.Note(store.EventList, sideEvent(front, "lpush", "rpush"), x.args[1])
	x.Int(l.Len())
}

// sideEvent is the name of an event at one end of a list.
func sideEvent(front bool, left, right string) string {
	if front {
		return left
	}
	return right
}

func cmdLlen(x *Call) {
	if l, ok := x.listAt(); ok {
		x.Int(l.Len())
	}
}

func cmdLindex(x *Call) {
	l, ok := x.listAt()
	if !ok {
		return
	}
	if !l.Value().Exists() {
		x.Null()
		return
	}
	i, ok := wire.ParseInt(x.args[2])
	if !ok {
		x.Error(msgNotInteger)
		return
	}
	element, ok, err := l.Index(i)
	switch {
	case err != nil:
		x.fail(err)
	case !ok:
		x.Null()
	default:
		x.Bulk(element)
	}
}

func cmdLset(x *Call) {
	l, ok := x.listAt()
	if !ok {
		return
	}
	if !l.Value().Exists() {
		x.Error(msgNoKey)
		return
	}
	i, ok := wire.ParseInt(x.args[2])
	if !ok {
		x.Error(msgNotInteger)
		return
	}
	if i = numbered(i, l.Len()); i < 0 || i >= l.Len() {
		x.Error(msgIndexRange)
		return
	}
	if err := l.Set(i, x.args[3]); err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventList, "lset", x.args[1])
	x.OK()
}

// bounds are args[2] and args[3], numbers of elements. It has replied, and returns false, if
// they are none.
func (x *Call) bounds() (from, to int64, ok bool) {
	from, ok = wire.ParseInt(x.args[2])
	if ok {
		to, ok = wire.ParseInt(x.args[3])
	}
	if !ok {
		x.Error(msgNotInteger)
	}
	return from, to, ok
}

func cmdLrange(x *Call) {
	from, to, ok := x.bounds()
	if !ok {
		return
	}
	l := &x.list
	l.MaxPacked = int(x.limits.packed.Load())
	near, err := l.OpenRange(x.unit, x.args[1], func(n int64) (int64, int64) { return within(from, to, n) })
	if !x.opened(x.args[1], l.Value(), err) {
		return
	}
	if from, to = within(from, to, l.Len()); from > to {
		x.Array(0)
		return
	}
	n := to - from + 1
	if x.deferred(share(l.Value().Size, l.Len(), n) + n*elementReply) {
		return
	}
	x.elements(func() error {
		x.Array(int(n))
		if near != nil {
			for i := range near.Len() {
				x.Bulk(near.At(i))
			}
			return nil
		}
		return l.Range(from, to, false, func(_ int64, element []byte) bool {
			x.Bulk(element)
			return true
		})
	})
}

func cmdLtrim(x *Call) {
	from, to, ok := x.bounds()
	if !ok {
		return
	}
	l, ok := x.listAt()
	if !ok {
		return
	}
	if l.Value().Exists() {
		from, to = within(from, to, l.Len())
		if err := l.Trim(from, to); err != nil {
			x.fail(err)
			return
		}
		x.popped(x.args[1], l, "ltrim")
	}
	x.OK()
}

func cmdLinsert(x *Call) {
	behind := wire.EqualFold(x.args[2], "after")
	if !behind && !wire.EqualFold(x.args[2], "before") {
		x.Error(msgSyntax)
		return
	}
	l, ok := x.listAt()
	if !ok {
		return
	}
	if !l.Value().Exists() {
		x.Int(0)
		return
	}
	at := int64(-1)
	err := l.Range(0, math.MaxInt64, false, func(i int64, element []byte) bool {
		if string(element) == string(x.args[3]) {
			at = i
		}
		return at < 0
	})
	if err == nil && at >= 0 {
		if behind {
			at++
		}
		err = l.Insert(at, x.args[4])
	}
	switch {
	case err != nil:
		x.fail(err)
	case at < 0:
		x.Int(-1)
	default:
		x.unit.Note(store.EventList, "linsert", x.args[1])
		x.Int(l.Len())
	}
}

func cmdLrem(x *Call) {
	n, ok := wire.ParseInt(x.args[2])
	if !ok {
		x.Error(msgNotInteger)
		return
	}
	l, ok := x.listAt()
	if !ok {
		return
	}
	back := n < 0
	if back {
		n = -n // the least of all stays what it is, which is no limit
	}
	var found []int64
	err := l.Range(0, math.MaxInt64, back, func(i int64, element []byte) bool {
		if string(element) == string(x.args[3]) {
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
		x.fail(err)
		return
	}
	if len(found) > 0 {
		x.popped(x.args[1], l, "lrem")
	}
	x.Int(int64(len(found)))
}
