package resp

import (
	"time"

	"github.com/ringside-kv/ringside/store"
)

// The commands on sorted sets that wait for a member.

func cmdBzpopmin(x *call) { x.blockingZpop(false) }

func cmdBzpopmax(x *call) { x.blockingZpop(true) }

func (x *call) blockingZpop(back bool) {
	last := len(x.args) - 1
	timeout, ok := x.parsePatience(x.args[last])
	if !ok {
		return
	}
	x.zpopOrBlock(timeout, x.args[1:last], func(x *call, key []byte) {
		if x.openZSet(&x.zset, key) {
			x.array(3)
			x.bulk(key)
			x.takeRange(key, &x.zset, 1, back, false)
		}
	})
}

// cmdBzmpop is ZMPOP behind a time.
func cmdBzmpop(x *call) {
	keys, o, ok := x.parseZmpop(2)
	if !ok {
		return
	}
	timeout, ok := x.parsePatience(x.args[1])
	if !ok {
		return
	}
	x.zpopOrBlock(timeout, keys, func(x *call, key []byte) {
		if x.openZSet(&x.zset, key) {
			x.popScoredOf(key, o)
		}
	})
}

// zpopOrBlock has pop take something from the first of some sorted sets that has any, and
// reply, or waits until one has.
func (x *call) zpopOrBlock(timeout time.Duration, keys [][]byte, pop func(x *call, key []byte)) {
	for _, key := range keys {
		if !x.openZSet(&x.zset, key) {
			return
		}
		if x.zset.Value().Exists() {
			pop(x, key)
			return
		}
	}
	x.block(want{timeout: timeout, keys: keys, typ: store.ZSet, serve: pop})
}
