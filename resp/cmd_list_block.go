package resp

import (
	"time"

	"github.com/ringside-kv/ringside/store"
)

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
	}, listThere)
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
				popSome(x, key, o)
			}
		},
	}, listThere)
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
