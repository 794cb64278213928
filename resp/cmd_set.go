package resp

import (
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// compactMembers is up to how many members Redis keeps a set of integers in a compact form.
const compactMembers = 512

// setAt opens the set at args[1] to change it, or to look at one member.
func (x *Call) setAt() (*collection.Table, bool) {
	return &x.table, x.open(&x.table, x.args[1], store.Set)
}

// addMember adds a member to a set.
func addMember(t *collection.Table, member []byte) (added bool, err error) {
	added, err = t.Set(member, nil)
	if err == nil && (isLargeMember(member, nil) || t.Len() > compactMembers) {
		t.MarkLarge()
	}
	return added, err
}

// isLargeMember reports whether Redis keeps a set with the member in no compact form.
func isLargeMember(member, _ []byte) bool { return !isInt(member) }

func cmdSadd(x *Call) {
	for _, member := range x.args[2:] {
		if !x.fieldFits(member) {
			return
		}
	}
	if _, n := x.eachMember(addMember); n > 0 {
		x.unit.Note(store.EventSet, "sadd", x.args[1])
	}
}

func cmdSrem(x *Call) {
	if t, n := x.eachMember((*collection.Table).Delete); n > 0 {
		x.removed(x.args[1], t, store.EventSet, "srem")
	}
}

// eachMember does something with each of args[2:] in the set at args[1], and replies with
// how often that changed it, which it returns.
func (x *Call) eachMember(do func(t *collection.Table, member []byte) (bool, error)) (t *collection.Table, n int64) {
	t, ok := x.setAt()
	if !ok {
		return nil, 0
	}
	for _, member := range x.args[2:] {
		changed, err := do(t, member)
		if err != nil {
			x.failPart(n > 0, err)
			return nil, 0
		}
		if changed {
			n++
		}
	}
	x.Int(n)
	return t, n
}

func cmdScard(x *Call) {
	if t, ok := x.setAt(); ok {
		x.Int(t.Len())
	}
}

func cmdSismember(x *Call) {
	t, ok := x.setAt()
	if !ok {
		return
	}
	_, found, err := t.Get(x.args[2])
	if err != nil {
		x.fail(err)
		return
	}
	x.Bool(found)
}

func cmdSmismember(x *Call) {
	t := &x.table
	if !x.openWhole(t, x.args[1], store.Set) {
		return
	}
	x.elements(func() error {
		x.Array(len(x.args) - 2)
		for _, member := range x.args[2:] {
			_, found, err := t.Get(member)
			if err != nil {
				return err
			}
			x.Bool(found)
		}
		return nil
	})
}

func cmdSmembers(x *Call) {
	t := &x.table
	if x.openWhole(t, x.args[1], store.Set) {
		x.allMembers(t)
	}
}

// allMembers replies with a set. It reports whether it did: otherwise there is nothing
// left to do.
func (x *Call) allMembers(t *collection.Table) bool {
	if x.deferred(t.Value().Size + elementReply*t.Len()) {
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
		x.fail(err)
	}
	return err == nil
}

func cmdSmove(x *Call) {
	sets := make([]collection.Table, 2)
	src, dst := &sets[0], &sets[1]
	if !x.open(src, x.args[1], store.Set) {
		return
	}
	if !src.Value().Exists() {
		x.Int(0)
		return
	}
	if !x.open(dst, x.args[2], store.Set) {
		return
	}
	member := x.args[3]
	if string(x.args[1]) == string(x.args[2]) {
		_, found, err := src.Get(member)
		if err != nil {
			x.fail(err)
			return
		}
		x.Bool(found)
		return
	}
	gone, err := src.Delete(member)
	if err != nil {
		x.fail(err)
		return
	}
	if gone {
		x.removed(x.args[1], src, store.EventSet, "srem")
		added, err := addMember(dst, member)
		if err != nil {
			x.abort(err)
			return
		}
		if added {
			x.unit.Note(store.EventSet, "sadd", x.args[2])
		}
	}
	x.Bool(gone)
}

func cmdSscan(x *Call) { x.tableScan(store.Set) }

func cmdSrandmember(x *Call) {
	if len(x.args) == 2 {
		x.randomElement(store.Set)
		return
	}
	if len(x.args) > 3 {
		x.Error(msgSyntax)
		return
	}
	if n, ok := x.sampleSize(); ok {
		x.randomElements(store.Set, n, false)
	}
}

func cmdSpop(x *Call) {
	if len(x.args) == 2 {
		x.popMember()
		return
	}
	if len(x.args) > 3 {
		x.Error(msgSyntax)
		return
	}
	n, ok := wire.ParseInt(x.args[2])
	if !ok || n < 0 {
		x.Error(msgNotPositive)
		return
	}
	t, ok := x.setAt()
	if !ok {
		return
	}
	if n >= t.Len() {
		if x.keeps(t.Value(), t.Len(), t.Len()) && x.allMembers(t) && t.Len() > 0 {
			t.Clear()
			x.removed(x.args[1], t, store.EventSet, "spop")
		}
		return
	}
	if x.keeps(t.Value(), t.Len(), n) {
		x.popMembers(t, n)
	}
}

func (x *Call) popMember() {
	t, ok := x.setAt()
	if !ok {
		return
	}
	member, ok, err := t.Pop(x.draws)
	switch {
	case err != nil:
		x.fail(err)
	case !ok:
		x.Null()
	default:
		x.Bulk(member)
		x.removed(x.args[1], t, store.EventSet, "spop")
	}
}

func (x *Call) popMembers(t *collection.Table, n int64) {
	members := make([][]byte, 0, n)
	err := t.PopSeveral(x.draws, n, func(member []byte) { members = append(members, member) })
	if err != nil {
		x.abort(err)
		return
	}
	if len(members) > 0 {
		x.removed(x.args[1], t, store.EventSet, "spop")
	}
	x.Writer.Set(len(members))
	for _, member := range members {
		x.Bulk(member)
	}
}
