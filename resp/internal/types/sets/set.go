package sets

import (
	"cmp"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// setAt opens the set at args[1] to change it, or to look at one member.
func setAt(x *command.Call) (*collection.Table, bool) {
	return &x.Table, x.OpenTable(&x.Table, x.Args[1], store.Set)
}

func cmdSadd(x *command.Call) {
	for _, member := range x.Args[2:] {
		if !x.FieldFits(member) {
			return
		}
	}
	at := len(x.Buf)
	t, n := eachMember(x, addMember)
	if t != nil {
		if err := expect(x, t, n); err != nil {
			x.Buf = x.Buf[:at]
			x.FailPart(n > 0, err)
			return
		}
	}
	if n > 0 {
		x.Unit.Note(store.EventSet, "sadd", x.Args[1])
	}
}

func cmdSrem(x *command.Call) {
	remove := func(_ *command.Call, t *collection.Table, member []byte) (bool, error) { return t.Delete(member) }
	if t, n := eachMember(x, remove); n > 0 {
		x.NoteRemoved(x.Args[1], t, store.EventSet, "srem")
	}
}

// eachMember does something with each of args[2:] in the set at args[1], and replies with
// how often that changed it, which it returns.
func eachMember(x *command.Call, do func(x *command.Call, t *collection.Table, member []byte) (bool, error)) (t *collection.Table, n int64) {
	t, ok := setAt(x)
	if !ok {
		return nil, 0
	}
	for _, member := range x.Args[2:] {
		changed, err := do(x, t, member)
		if err != nil {
			x.FailPart(n > 0, err)
			return nil, 0
		}
		if changed {
			n++
		}
	}
	x.Int(n)
	return t, n
}

func cmdScard(x *command.Call) {
	if t, ok := setAt(x); ok {
		x.Int(t.Len())
	}
}

func cmdSismember(x *command.Call) {
	t, ok := setAt(x)
	if !ok {
		return
	}
	_, found, err := t.Get(x.Args[2])
	if err != nil {
		x.Fail(err)
		return
	}
	x.Bool(found)
}

func cmdSmismember(x *command.Call) {
	t := &x.Table
	if !x.OpenWholeTable(t, x.Args[1], store.Set) {
		return
	}
	x.Elements(func() error {
		x.Array(len(x.Args) - 2)
		for _, member := range x.Args[2:] {
			_, found, err := t.Get(member)
			if err != nil {
				return err
			}
			x.Bool(found)
		}
		return nil
	})
}

func cmdSmembers(x *command.Call) {
	t := &x.Table
	if x.OpenWholeTable(t, x.Args[1], store.Set) {
		allMembers(x, t)
	}
}

// allMembers replies with a set. It reports whether it did: otherwise there is nothing
// left to do.
func allMembers(x *command.Call, t *collection.Table) bool {
	if x.RunApart(t.Value().Size + command.ElementReply*t.Len()) {
		return false
	}
	at := len(x.Buf)
	x.Writer.Set(int(t.Len()))
	err := t.All(func(member, _ []byte) bool {
		x.Bulk(member)
		return true
	})
	if err != nil {
		x.Buf = x.Buf[:at]
		x.Fail(err)
	}
	return err == nil
}

func cmdSmove(x *command.Call) {
	sets := make([]collection.Table, 2)
	src, dst := &sets[0], &sets[1]
	if !x.OpenTable(src, x.Args[1], store.Set) {
		return
	}
	if !src.Value().Exists() {
		x.Int(0)
		return
	}
	if !x.OpenTable(dst, x.Args[2], store.Set) {
		return
	}
	member := x.Args[3]
	if string(x.Args[1]) == string(x.Args[2]) {
		_, found, err := src.Get(member)
		if err != nil {
			x.Fail(err)
			return
		}
		x.Bool(found)
		return
	}
	gone, err := src.Delete(member)
	if err != nil {
		x.Fail(err)
		return
	}
	if gone {
		x.NoteRemoved(x.Args[1], src, store.EventSet, "srem")
		added, err := addMember(x, dst, member)
		if err != nil {
			x.Abort(err)
			return
		}
		if added {
			x.Unit.Note(store.EventSet, "sadd", x.Args[2])
		}
	}
	x.Bool(gone)
}

func cmdSscan(x *command.Call) { x.TableScan(store.Set) }

func cmdSrandmember(x *command.Call) {
	if len(x.Args) == 2 {
		x.RandomElement(store.Set)
		return
	}
	if len(x.Args) > 3 {
		x.Error(command.MsgSyntax)
		return
	}
	if n, ok := x.SampleSize(); ok {
		x.RandomElements(store.Set, n, false)
	}
}

func cmdSpop(x *command.Call) {
	if len(x.Args) == 2 {
		popMember(x)
		return
	}
	if len(x.Args) > 3 {
		x.Error(command.MsgSyntax)
		return
	}
	n, ok := wire.ParseInt(x.Args[2])
	if !ok || n < 0 {
		x.Error(command.MsgNotPositive)
		return
	}
	t, ok := setAt(x)
	if !ok {
		return
	}
	if n >= t.Len() {
		if x.FitsElements(t.Value(), t.Len(), t.Len()) && allMembers(x, t) && t.Len() > 0 {
			t.Clear()
			x.NoteRemoved(x.Args[1], t, store.EventSet, "spop")
		}
		return
	}
	if x.FitsElements(t.Value(), t.Len(), n) {
		popMembers(x, t, n)
	}
}

func popMember(x *command.Call) {
	t, ok := setAt(x)
	if !ok {
		return
	}
	member, ok, err := t.Pop(x.Draws)
	switch {
	case err != nil:
		x.Fail(err)
	case !ok:
		x.Null()
	default:
		x.Bulk(member)
		x.NoteRemoved(x.Args[1], t, store.EventSet, "spop")
	}
}

func popMembers(x *command.Call, t *collection.Table, n int64) {
	var members [][]byte
	size, tooLarge := int64(0), error(nil)
	err := t.PopSeveral(x.Draws, n, func(member []byte) {
		size += int64(len(member)) + command.ElementReply
		if tooLarge == nil && !x.FitsReply(size) {
			tooLarge = command.LimitError(x.OverOutputBuffer())
		}
		if tooLarge == nil {
			members = append(members, member)
		}
	})
	if err = cmp.Or(err, tooLarge); err != nil {
		x.Abort(err)
		return
	}
	if len(members) > 0 {
		x.NoteRemoved(x.Args[1], t, store.EventSet, "spop")
	}
	x.Writer.Set(len(members))
	for _, member := range members {
		x.Bulk(member)
	}
}
