package zsets

import (
	"cmp"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

func cmdZpopmin(x *command.Call) { popScored(x, false) }

func cmdZpopmax(x *command.Call) { popScored(x, true) }

// popScored removes one member from an end, or as many as args[2] says, and replies with
// them.
func popScored(x *command.Call, back bool) {
	if len(x.Args) > 3 {
		x.Error(command.MsgSyntax)
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
	z, ok := zsetAt(x)
	switch {
	case !ok:
	case !z.Value().Exists() || n == 0:
		x.Array(0)
	case x.FitsElements(z.Value(), z.Len(), min(n, z.Len())):
		popRange(x, x.Args[1], z, n, back, several && x.Proto == 3)
	}
}

// popRange removes up to n members from an end of a sorted set and replies with an array of
// them, each in an array of its own if they are nested.
func popRange(x *command.Call, key []byte, z *collection.ZSet, n int64, back, nested bool) {
	n = min(n, z.Len())
	if nested {
		x.Array(int(n))
	} else {
		x.Array(int(2 * n))
	}
	takeRange(x, key, z, n, back, nested)
}

// takeRange removes up to n members from an end of a sorted set and replies with each and its
// score, in an array of its own if they are nested.
func takeRange(x *command.Call, key []byte, z *collection.ZSet, n int64, back, nested bool) {
	at, tooLarge := len(x.Buf), error(nil)
	err := z.Pop(n, back, func(member []byte, score float64) {
		if tooLarge == nil {
			tooLarge = x.FitsElement(member)
		}
		if tooLarge != nil {
			return
		}
		if nested {
			x.Array(2)
		}
		x.Bulk(member)
		x.Double(score)
	})
	if err = cmp.Or(err, tooLarge); err == nil {
		err = z.Flush()
	}
	if err != nil {
		x.Buf = x.Buf[:at]
		x.Abort(err)
		return
	}
	removedScored(x, key, z, map[bool]string{false: "zpopmin", true: "zpopmax"}[back])
}

// popScoredOf removes members from the sorted set that is open, at a key, and replies with
// both.
func popScoredOf(x *command.Call, key []byte, o command.Pop) {
	z := &x.ZSet
	if x.FitsElements(z.Value(), z.Len(), min(o.Most, z.Len())) {
		x.Array(2)
		x.Bulk(database.Name(key))
		popRange(x, key, z, o.Most, !o.First, true)
	}
}

// zsetThere opens the sorted set at a key, and tells whether there is one.
func zsetThere(x *command.Call, key []byte) (there, ok bool) {
	ok = openZSet(x, &x.ZSet, key)
	return ok && x.ZSet.Value().Exists(), ok
}

// cmdZmpop removes members from the first of some sorted sets that has any.
func cmdZmpop(x *command.Call) {
	if o, ok := x.ParseMpop(1, "min", "max"); ok {
		x.PopFirst(o, zsetThere, popScoredOf)
	}
}
