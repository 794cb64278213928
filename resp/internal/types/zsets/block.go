package zsets

import (
	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// The commands on sorted sets that wait for a member.

func cmdBzpopmin(x *command.Call) { blockingZpop(x, false) }

func cmdBzpopmax(x *command.Call) { blockingZpop(x, true) }

func blockingZpop(x *command.Call, back bool) {
	last := len(x.Args) - 1
	timeout, ok := x.ParsePatience(x.Args[last])
	if !ok {
		return
	}
	x.PopOrBlock(command.Want{
		Timeout: timeout, Keys: x.Args[1:last], Type: store.ZSet,
		Serve: func(x *command.Call, key []byte) {
			if openZSet(x, &x.ZSet, key) {
				x.Array(3)
				x.Bulk(database.Name(key))
				takeRange(x, key, &x.ZSet, 1, back, false)
			}
		},
	}, zsetThere)
}

// cmdBzmpop is ZMPOP behind a time.
func cmdBzmpop(x *command.Call) {
	o, timeout, ok := x.ParseMpopBehindTime("min", "max")
	if !ok {
		return
	}
	x.PopOrBlock(command.Want{
		Timeout: timeout, Keys: o.Keys, Type: store.ZSet,
		Serve: func(x *command.Call, key []byte) {
			if openZSet(x, &x.ZSet, key) {
				popScoredOf(x, key, o)
			}
		},
	}, zsetThere)
}
