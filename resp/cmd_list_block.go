package resp

import (
	"math/big"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// parsePatience reads for how many seconds a command may wait, with a fraction perhaps; 0 is
// for ever. It has replied, and returns false, if the argument says no such time.
func (x *Call) parsePatience(arg []byte) (time.Duration, bool) {
	seconds, ok := wire.ParseLongDouble(arg)
	if !ok {
		x.Error("ERR timeout is not a float or out of range")
		return 0, false
	}
	// Redis counts whole milliseconds, rounded up, and takes more than fit 64 bits for
	// less than none.
	ms := wire.NewLongDouble().Mul(seconds, big.NewFloat(1000))
	n, accuracy := ms.Int64()
	if accuracy == big.Below && ms.Sign() > 0 && !ms.IsInf() && n < 1<<63-1 {
		n++
	}
	if n < 0 || ms.IsInf() || ms.Cmp(big.NewFloat(1<<63)) >= 0 {
		x.Error("ERR timeout is negative")
		return 0, false
	}
	return time.Duration(min(n, int64(maxLinger/time.Millisecond))) * time.Millisecond, true
}

func cmdBlpop(x *Call) { x.blockingPop(true) }

func cmdBrpop(x *Call) { x.blockingPop(false) }

func (x *Call) blockingPop(front bool) {
	last := len(x.args) - 1
	timeout, ok := x.parsePatience(x.args[last])
	if !ok {
		return
	}
	x.popOrBlock(want{
		timeout: timeout, keys: x.args[1:last], typ: store.List,
		serve: func(x *Call, key []byte) {
			if x.openList(&x.list, key) {
				x.Array(2)
				x.Bulk(key)
				if _, ok := x.popOne(&x.list, front); ok {
					x.popped(key, &x.list, sideEvent(front, "lpop", "rpop"))
				}
			}
		},
	}, x.listThere)
}

// cmdBlmpop is LMPOP behind a time.
func cmdBlmpop(x *Call) {
	o, timeout, ok := x.parseMpopBehindTime("left", "right")
	if !ok {
		return
	}
	x.popOrBlock(want{
		timeout: timeout, keys: o.keys, typ: store.List,
		serve: func(x *Call, key []byte) {
			if x.openList(&x.list, key) {
				x.popSome(key, o)
			}
		},
	}, x.listThere)
}

func cmdBrpoplpush(x *Call) {
	if timeout, ok := x.parsePatience(x.args[3]); ok {
		x.moveOrBlock(timeout, false, true)
	}
}

func cmdBlmove(x *Call) {
	from, ok := x.side(x.args[3])
	if !ok {
		return
	}
	to, ok := x.side(x.args[4])
	if !ok {
		return
	}
	if timeout, ok := x.parsePatience(x.args[5]); ok {
		x.moveOrBlock(timeout, from, to)
	}
}

func (x *Call) moveOrBlock(timeout time.Duration, fromFront, toFront bool) {
	src, ok := x.listAt()
	switch {
	case !ok:
	case src.Value().Exists():
		x.moveElement(fromFront, toFront)
	case x.inside:
		x.Null()
	default:
		x.host.block(want{
			timeout: timeout, keys: x.args[1:2], also: x.args[2:3], typ: store.List,
			serve: func(x *Call, _ []byte) { x.moveElement(fromFront, toFront) },
		})
	}
}
