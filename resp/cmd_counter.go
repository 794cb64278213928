package resp

import (
	"math"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

func cmdIncr(x *Call) { x.incrBy(1) }

func cmdDecr(x *Call) { x.incrBy(-1) }

func cmdIncrby(x *Call) {
	n, ok := wire.ParseInt(x.args[2])
	if !ok {
		x.Error(msgNotInteger)
		return
	}
	x.incrBy(n)
}

func cmdDecrby(x *Call) {
	n, ok := wire.ParseInt(x.args[2])
	switch {
	case !ok:
		x.Error(msgNotInteger)
	case n == math.MinInt64:
		x.Error("ERR decrement would overflow")
	default:
		x.incrBy(-n)
	}
}

// incrBy adds n to the integer at args[1].
func (x *Call) incrBy(n int64) {
	v, ok := x.getString(x.args[1])
	if !ok {
		return
	}
	old := int64(0)
	if v.Exists() {
		if old, ok = wire.ParseInt(v.Inline); !ok || !v.Whole() {
			x.Error(msgNotInteger)
			return
		}
	}
	if n < 0 && old < math.MinInt64-n || n > 0 && old > math.MaxInt64-n {
		x.Error(msgOverflow)
		return
	}
	old += n
	var num [wire.MaxIntText]byte
	if err := x.unit.PutString(x.args[1], v, appendInt(num[:0], old), v.Expiry, false); err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventString, "incrby", x.args[1])
	x.Int(old)
}

func cmdIncrbyfloat(x *Call) {
	v, ok := x.getString(x.args[1])
	if !ok {
		return
	}
	old := v.Inline // empty for a long string: no number
	if !v.Exists() {
		old = []byte{'0'}
	}
	sum, err := wire.AddFloat(old, x.args[2])
	if err != nil {
		x.Error(err.Error())
		return
	}
	if err := x.unit.PutString(x.args[1], v, sum, v.Expiry, false); err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventString, "incrbyfloat", x.args[1])
	x.Bulk(sum)
}
