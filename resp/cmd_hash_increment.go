package resp

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/store"
)

func cmdHincrby(x *Call) {
	n, ok := parseInt(x.args[3])
	if !ok {
		x.err(msgNotInteger)
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
		if old, ok = parseInt(value); !ok {
			x.err("ERR hash value is not an integer")
			return
		}
	}
	if n < 0 && old < math.MinInt64-n || n > 0 && old > math.MaxInt64-n {
		x.err(msgOverflow)
		return
	}
	var num [maxIntText]byte
	if _, err := x.setField(t, x.args[2], appendInt(num[:0], old+n)); err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventHash, "hincrby", x.args[1])
	x.integer(old + n)
}

func cmdHincrbyfloat(x *Call) {
	switch incr, ok := parseLongDouble(x.args[3]); {
	case !ok:
		x.err(msgNotFloat)
		return
	case incr.IsInf():
		x.err("ERR value is NaN or Infinity")
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
	sum, err := addFloat(old, x.args[3])
	if errors.Is(err, errNotFloat) {
		x.err("ERR hash value is not a float")
		return
	}
	if err != nil {
		x.err(err.Error())
		return
	}
	if _, err := x.setField(t, x.args[2], sum); err != nil {
		x.fail(err)
		return
	}
	x.unit.Note(store.EventHash, "hincrbyfloat", x.args[1])
	x.bulk(sum)
}
