package resp

import "github.com/ringside-kv/ringside/store"

// The commands on sorted sets that wait for a member.

func cmdBzpopmin(x *Call) { x.blockingZpop(false) }

func cmdBzpopmax(x *Call) { x.blockingZpop(true) }

func (x *Call) blockingZpop(back bool) {
	last := len(x.args) - 1
	timeout, ok := x.parsePatience(x.args[last])
	if !ok {
		return
	}
	x.popOrBlock(want{
		timeout: timeout, keys: x.args[1:last], typ: store.ZSet,
		serve: func(x *Call, key []byte) {
			if x.openZSet(&x.zset, key) {
				x.Array(3)
				x.Bulk(key)
				x.takeRange(key, &x.zset, 1, back, false)
			}
		},
	}, zsetThere)
}

// cmdBzmpop is ZMPOP behind a time.
func cmdBzmpop(x *Call) {
	o, timeout, ok := x.parseMpopBehindTime("min", "max")
	if !ok {
		return
	}
	x.popOrBlock(want{
		timeout: timeout, keys: o.keys, typ: store.ZSet,
		serve: func(x *Call, key []byte) {
			if x.openZSet(&x.zset, key) {
				popScoredOf(x, key, o)
			}
		},
	}, zsetThere)
}
