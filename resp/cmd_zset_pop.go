package resp

import (
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
)

func cmdZpopmin(x *Call) { x.popScored(false) }

func cmdZpopmax(x *Call) { x.popScored(true) }

// popScored removes one member from an end, or as many as args[2] says, and replies with
// them.
func (x *Call) popScored(back bool) {
	if len(x.args) > 3 {
		x.Error(msgSyntax)
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
	z, ok := x.zsetAt()
	switch {
	case !ok:
	case !z.Value().Exists() || n == 0:
		x.Array(0)
	case x.keeps(z.Value(), z.Len(), min(n, z.Len())):
		x.popRange(x.args[1], z, n, back, several && x.Proto == 3)
	}
}

// popRange removes up to n members from an end of a sorted set and replies with an array of
// them, each in an array of its own if they are nested.
func (x *Call) popRange(key []byte, z *collection.ZSet, n int64, back, nested bool) {
	n = min(n, z.Len())
	if nested {
		x.Array(int(n))
	} else {
		x.Array(int(2 * n))
	}
	x.takeRange(key, z, n, back, nested)
}

// takeRange removes up to n members from an end of a sorted set and replies with each and its
// score, in an array of its own if they are nested.
func (x *Call) takeRange(key []byte, z *collection.ZSet, n int64, back, nested bool) {
	at := len(x.Buf)
	err := z.Pop(n, back, func(member []byte, score float64) {
		if nested {
			x.Array(2)
		}
		x.Bulk(member)
		x.Double(score)
	})
	if err == nil {
		err = z.Flush()
	}
	if err != nil {
		x.Buf = x.Buf[:at]
		x.abort(err)
		return
	}
	x.removedScored(key, z, map[bool]string{false: "zpopmin", true: "zpopmax"}[back])
}

// popScoredOf removes members from the sorted set that is open, at a key, and replies with
// both.
func popScoredOf(x *Call, key []byte, o mpop) {
	z := &x.zset
	if x.keeps(z.Value(), z.Len(), min(o.most, z.Len())) {
		x.Array(2)
		x.Bulk(key)
		x.popRange(key, z, o.most, !o.first, true)
	}
}

// zsetThere opens the sorted set at a key, and tells whether there is one.
func zsetThere(x *Call, key []byte) (there, ok bool) {
	ok = x.openZSet(&x.zset, key)
	return ok && x.zset.Value().Exists(), ok
}

// cmdZmpop removes members from the first of some sorted sets that has any.
func cmdZmpop(x *Call) {
	if o, ok := x.parseMpop(1, "min", "max"); ok {
		x.popFirst(o, zsetThere, popScoredOf)
	}
}
