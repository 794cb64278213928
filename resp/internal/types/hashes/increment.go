package hashes

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

func cmdHincrby(x *command.Call) {
	n, ok := wire.ParseInt(x.Args[3])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	t, ok := hash(x)
	if !ok || !x.FieldFits(x.Args[2]) {
		return
	}
	value, found, err := t.Get(x.Args[2])
	if err != nil {
		x.Fail(err)
		return
	}
	old := int64(0)
	if found {
		if old, ok = wire.ParseInt(value); !ok {
			x.Error("ERR hash value is not an integer")
			return
		}
	}
	if n < 0 && old < math.MinInt64-n || n > 0 && old > math.MaxInt64-n {
		x.Error(command.MsgOverflow)
		return
	}
	var num [wire.MaxIntText]byte
	if err := changeField(x, t, x.Args[2], command.AppendInt(num[:0], old+n)); err != nil {
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventHash, "hincrby", x.Args[1])
	x.Int(old + n)
}

func cmdHincrbyfloat(x *command.Call) {
	switch incr, ok := wire.ParseLongDouble(x.Args[3]); {
	case !ok:
		x.Error(command.MsgNotFloat)
		return
	case incr.IsInf():
		x.Error("ERR value is NaN or Infinity")
		return
	}
	t, ok := hash(x)
	if !ok || !x.FieldFits(x.Args[2]) {
		return
	}
	old, found, err := t.Get(x.Args[2])
	if err != nil {
		x.Fail(err)
		return
	}
	if !found {
		old = []byte{'0'}
	}
	sum, err := wire.AddFloat(old, x.Args[3])
	if errors.Is(err, wire.ErrNotFloat) {
		x.Error("ERR hash value is not a float")
		return
	}
	if err != nil {
		x.Error(err.Error())
		return
	}
	if err := changeField(x, t, x.Args[2], sum); err != nil {
		x.Fail(err)
		return
	}
	x.Unit.Note(store.EventHash, "hincrbyfloat", x.Args[1])
	x.Bulk(sum)
}
