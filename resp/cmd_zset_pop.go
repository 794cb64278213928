package resp

import "github.com/ringside-kv/ringside/store/collection"

func cmdZpopmin(x *call) { x.popScored(false) }

func cmdZpopmax(x *call) { x.popScored(true) }

// popScored removes one member from an end, or as many as args[2] says, and replies with
// them.
func (x *call) popScored(back bool) {
	if len(x.args) > 3 {
		x.err(msgSyntax)
		return
	}
	n, several := int64(1), len(x.args) == 3
	if several {
		var ok bool
		if n, ok = parseInt(x.args[2]); !ok || n < 0 {
			x.err(msgNotPositive)
			return
		}
	}
	z, ok := x.zsetAt()
	switch {
	case !ok:
	case !z.Value().Exists() || n == 0:
		x.array(0)
	case x.keeps(z.Value(), z.Len(), min(n, z.Len())):
		x.popRange(z, n, back, several && x.proto == 3)
	}
}

// popRange removes up to n members from an end and replies with an array of them, each in an
// array of its own if they are nested.
func (x *call) popRange(z *collection.ZSet, n int64, back, nested bool) {
	at := len(x.buf)
	n = min(n, z.Len())
	if nested {
		x.array(int(n))
	} else {
		x.array(int(2 * n))
	}
	err := z.Pop(n, back, func(member []byte, score float64) {
		if nested {
			x.array(2)
		}
		x.bulk(member)
		x.double(score)
	})
	if err == nil {
		err = z.Flush()
	}
	if err != nil {
		x.buf = x.buf[:at]
		x.abort(err)
	}
}

// cmdZmpop removes members from the first of some sorted sets that has any.
func cmdZmpop(x *call) {
	n, ok := parseInt(x.args[1])
	if !ok || n < 1 {
		x.err("ERR numkeys should be greater than 0")
		return
	}
	if n > int64(len(x.args)-3) {
		x.err(msgSyntax)
		return
	}
	keys, rest := x.args[2:2+n], x.args[2+n:]
	back := equalFold(rest[0], "max")
	if !back && !equalFold(rest[0], "min") {
		x.err(msgSyntax)
		return
	}
	most := int64(1)
	switch rest = rest[1:]; {
	case len(rest) == 0:
	case len(rest) != 2 || !equalFold(rest[0], "count"):
		x.err(msgSyntax)
		return
	default:
		if most, ok = parseInt(rest[1]); !ok || most < 1 {
			x.err("ERR count should be greater than 0")
			return
		}
	}
	for _, key := range keys {
		z := &x.zset
		if !x.openZSet(z, key) {
			return
		}
		if !z.Value().Exists() {
			continue
		}
		if x.keeps(z.Value(), z.Len(), min(most, z.Len())) {
			x.array(2)
			x.bulk(key)
			x.popRange(z, most, back, true)
		}
		return
	}
	x.nullArray()
}
