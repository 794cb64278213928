package strings

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

func cmdIncr(x *command.Call) { incrBy(x, 1) }

func cmdDecr(x *command.Call) { incrBy(x, -1) }

func cmdIncrby(x *command.Call) {
	n, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	incrBy(x, n)
}

func cmdDecrby(x *command.Call) {
	n, ok := wire.ParseInt(x.Args[2])
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
	case n == math.MinInt64:
		x.Error("ERR decrement would overflow")
	default:
		incrBy(x, -n)
	}
}

// incrBy adds n to the integer at args[1].
func incrBy(x *command.Call, n int64) {
	v, ok := x.GetString(x.Args[1])
	if !ok {
		return
	}
	old := int64(0)
	if v.Exists() {
		if old, ok = wire.ParseInt(v.Inline); !ok || !v.Whole() {
			x.Error(command.MsgNotInteger)
			return
		}
	}
	if n < 0 && old < math.MinInt64-n || n > 0 && old > math.MaxInt64-n {
		x.Error(command.MsgOverflow)
		return
	}
	old += n
	var num [wire.MaxIntText]byte
	if err := x.Unit.PutString(x.Args[1], v, command.AppendInt(num[:0], old), v.Expiry, false); err != nil {
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventString, "incrby", x.Args[1])
	x.Int(old)
}

func cmdIncrbyfloat(x *command.Call) {
	v, ok := x.GetString(x.Args[1])
	if !ok {
		return
	}
	old := v.Inline // empty for a long string: no number
	if !v.Exists() {
		old = []byte{'0'}
	}
	sum, err := wire.AddFloat(old, x.Args[2])
	if err != nil {
		x.Error(err.Error())
		return
	}
	if err := x.Unit.PutString(x.Args[1], v, sum, v.Expiry, false); err != nil {
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventString, "incrbyfloat", x.Args[1])
	x.Bulk(sum)
}
