package sets

import (
	"cmp"
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// Commands on several sets, each of which goes over members of sets and asks others for
// them.

// A setMembers calls yield for the members of a result, each once, until it returns false.
type setMembers func(yield func(member []byte) bool) error

// sets opens the sets at keys. It has replied, and returns false, if one of them is none.
func sets(x *command.Call, keys [][]byte) ([]collection.Table, bool) {
	sets := make([]collection.Table, len(keys))
	for i := range keys {
		if !x.OpenWholeTable(&sets[i], keys[i], store.Set) {
			return nil, false
		}
		x.CountSource(keys[i], sets[i].Value())
	}
	return sets, true
}

// intersection is what all sets have: members of the smallest.
func intersection(sets []collection.Table) setMembers {
	slices.SortStableFunc(sets, func(a, b collection.Table) int { return cmp.Compare(a.Len(), b.Len()) })
	return func(yield func([]byte) bool) error {
		return filter(&sets[0], func(member []byte) (bool, error) {
			for i := range sets[1:] {
				if _, ok, err := sets[1+i].Get(member); err != nil || !ok {
					return false, err
				}
			}
			return true, nil
		}, yield)
	}
}

// difference is what the first set has and no other.
func difference(sets []collection.Table) setMembers {
	return func(yield func([]byte) bool) error {
		return filter(&sets[0], func(member []byte) (bool, error) {
			ok, err := inAny(sets[1:], member)
			return !ok, err
		}, yield)
	}
}

// union is what any set has. Members are remembered as long as there is memory to spare, and
// looked for in the sets before theirs from then on.
func union(x *command.Call, sets []collection.Table) setMembers {
	return func(yield func([]byte) bool) error {
		seen := make(map[string]struct{})
		more := true
		for i := 0; more && i < len(sets); i++ {
			err := filter(&sets[i], func(member []byte) (bool, error) {
				if seen != nil && !x.TryTake(int64(len(member))+command.BuiltEntry) {
					seen = nil
					x.ReleaseTaken()
				}
				if seen == nil {
					ok, err := inAny(sets[:i], member)
					return !ok, err
				}
				n := len(seen)
				seen[string(member)] = struct{}{}
				return len(seen) > n, nil
			}, func(member []byte) bool {
				more = yield(member)
				return more
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
}

func inAny(sets []collection.Table, member []byte) (bool, error) {
	for i := range sets {
		if _, ok, err := sets[i].Get(member); err != nil || ok {
			return ok, err
		}
	}
	return false, nil
}

// filter calls yield for those members of a set that are wanted.
func filter(t *collection.Table, wanted func([]byte) (bool, error), yield func([]byte) bool) error {
	var failure error
	err := t.All(func(member, _ []byte) bool {
		ok, err := wanted(member)
		if err != nil {
			failure = err
			return false
		}
		return !ok || yield(member)
	})
	return cmp.Or(failure, err)
}

func cmdSinter(x *command.Call) { setReply(x, intersection) }

func cmdSunion(x *command.Call) {
	setReply(x, func(sets []collection.Table) setMembers { return union(x, sets) })
}

func cmdSdiff(x *command.Call) { setReply(x, difference) }

func cmdSinterstore(x *command.Call) { setStore(x, intersection, nil) }

func cmdSunionstore(x *command.Call) {
	setStore(x, func(sets []collection.Table) setMembers { return union(x, sets) }, nil)
}

func cmdSdiffstore(x *command.Call) { setStore(x, difference, wasLarge) }

// setReply replies with what comes of the sets at args[1:].
func setReply(x *command.Call, of func([]collection.Table) setMembers) {
	sets, ok := sets(x, x.Args[1:])
	if !ok {
		return
	}
	var body wire.Writer
	n, fits, room := 0, true, true
	err := of(sets)(func(member []byte) bool {
		fits = x.FitsReply(int64(len(body.Buf) + len(member) + command.ElementReply))
		room = x.Take(int64(len(member) + command.ElementReply))
		if fits && room {
			body.Bulk(member)
			n++
		}
		return fits && room
	})
	switch {
	case err != nil:
		x.Fail(err)
	case !fits:
		x.RefuseByLimit(x.OverOutputBuffer())
	case !room:
		x.RefuseByLimit(command.MsgNoMemory)
	default:
		x.Writer.Set(n)
		x.Buf = append(x.Buf, body.Buf...)
	}
}

// setStore makes what comes of the sets at args[2:] the value of args[1], and replies with
// its number of members. large, if given, tells that it counts as large, however small it is.
func setStore(x *command.Call, of func([]collection.Table) setMembers, large func(*command.Call, []collection.Table) (bool, error)) {
	sets, ok := sets(x, x.Args[2:])
	if !ok {
		return
	}
	old, err := x.Unit.Get(x.Args[1])
	if err != nil {
		x.Fail(err)
		return
	}
	dst := &x.Table
	dst.MaxPacked = int(x.Limits.Packed.Load())
	dst.Over(x.Unit, x.Args[1], store.Set, old)
	members, isLarge, words := of(sets), false, false
	if large != nil {
		if isLarge, err = large(x, sets); err != nil {
			x.Fail(err)
			return
		}
	}
	x.Unit.SetReplacing(old.Exists())
	defer x.Unit.SetReplacing(false)
	err = dst.Replace(func(set func(field, value []byte) error) error {
		var failure error
		err := members(func(member []byte) bool {
			isLarge, words = isLarge || IsLongMember(x, member), words || !command.IsInt(member)
			failure = set(member, nil)
			return failure == nil
		})
		return cmp.Or(failure, err)
	})
	if err != nil {
		x.Fail(err)
		return
	}
	if isLarge || IsLarge(x, dst.Len(), words) {
		dst.MarkLarge()
	}
	x.NoteStored(store.EventSet, x.Row.Name, x.Args[1], old, dst.Len())
	x.Int(dst.Len())
}

// wasLarge tells whether Redis makes a difference in a table: where that is less work than to
// look for each member of the first set in the others, it takes all of them and removes those
// of the others, and a set stays the table that it has become.
func wasLarge(x *command.Call, sets []collection.Table) (bool, error) {
	first, one, two := sets[0].Len(), int64(0), int64(0)
	for i := range sets {
		if n := sets[i].Len(); n > 0 {
			one += first
			two += n
		}
	}
	if first == 0 || one/2 <= two {
		return false, nil
	}
	long, words := false, false
	err := sets[0].All(func(member, _ []byte) bool {
		long, words = IsLongMember(x, member), words || !command.IsInt(member)
		return !long
	})
	return long || IsLarge(x, first, words), err
}

func cmdSintercard(x *command.Call) {
	n, ok := wire.ParseInt(x.Args[1])
	if !ok || n < 1 {
		x.Error("ERR numkeys should be greater than 0")
		return
	}
	if n > int64(len(x.Args)-2) {
		x.Error("ERR Number of keys can't be greater than number of args")
		return
	}
	limit := int64(0)
	for rest := x.Args[2+n:]; len(rest) > 0; rest = rest[2:] {
		if !wire.EqualFold(rest[0], "limit") || len(rest) == 1 {
			x.Error(command.MsgSyntax)
			return
		}
		if limit, ok = wire.ParseInt(rest[1]); !ok || limit < 0 {
			x.Error("ERR LIMIT can't be negative")
			return
		}
	}
	sets, ok := sets(x, x.Args[2:2+n])
	if !ok {
		return
	}
	count := int64(0)
	err := intersection(sets)(func([]byte) bool {
		count++
		return count != limit
	})
	if err != nil {
		x.Fail(err)
		return
	}
	x.Int(count)
}
