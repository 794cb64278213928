package resp

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

func cmdHincrby(x *Call) {
	n, ok := wire.ParseInt(x.args[3])
	if !ok {
		x.Error(msgNotInteger)
		return
	}
	t, ok := x.hash()
	if !ok || !x.fieldFits(x.args[2]) {
		return
	}
	value, found, err := t.Get(x.args[2])
	if err != nil {
		x.fail(err)
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
		x.Error(msgOverflow)
		return
	}
	var num [wire.MaxIntText]byte
	if _, err := x.setField(t, x.args[2], appendInt(num[:0], old+n)); err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventHash, "hincrby", x.args[1])
	x.Int(old + n)
}

func cmdHincrbyfloat(x *Call) {
	switch incr, ok := wire.ParseLongDouble(x.args[3]); {
	case !ok:
		x.Error(msgNotFloat)
		return
	case incr.IsInf():
		x.Error("ERR value is NaN or Infinity")
		return
	}
	t, ok := x.hash()
	if !ok || !x.fieldFits(x.args[2]) {
		return
	}
	old, found, err := t.Get(x.args[2])
	if err != nil {
		x.fail(err)
		return
	}
	if !found {
		old = []byte{'0'}
	}
	sum, err := wire.AddFloat(old, x.args[3])
	if errors.Is(err, wire.ErrNotFloat) {
		x.Error("ERR hash value is not a float")
		return
	}
	if err != nil {
		x.Error(err.Error())
		return
	}
	if _, err := x.setField(t, x.args[2], sum); err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventHash, "hincrbyfloat", x.args[1])
	x.Bulk(sum)
}
