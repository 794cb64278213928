package lists

import (
	"time"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

func cmdBlpop(x *command.Call) { blockingPop(x, true) }

func cmdBrpop(x *command.Call) { blockingPop(x, false) }

func blockingPop(x *command.Call, front bool) {
	last := len(x.Args) - 1
	timeout, ok := x.ParsePatience(x.Args[last])
	if !ok {
		return
	}
	x.PopOrBlock(command.Want{
		Timeout: timeout, Keys: x.Args[1:last], Type: store.List,
		Serve: func(x *command.Call, key []byte) {
			if openList(x, &x.List, key) {
				x.Array(2)
				x.Bulk(database.Name(key))
				if _, ok := popOne(x, &x.List, front); ok {
					popped(x, key, &x.List, sideEvent(front, "lpop", "rpop"))
				}
			}
		},
	}, listThere)
}

// cmdBlmpop is LMPOP behind a time.
func cmdBlmpop(x *command.Call) {
	o, timeout, ok := x.ParseMpopBehindTime("left", "right")
	if !ok {
		return
	}
	x.PopOrBlock(command.Want{
		Timeout: timeout, Keys: o.Keys, Type: store.List,
		Serve: func(x *command.Call, key []byte) {
			if openList(x, &x.List, key) {
				popSome(x, key, o)
			}
		},
	}, listThere)
}

func cmdBrpoplpush(x *command.Call) {
	if timeout, ok := x.ParsePatience(x.Args[3]); ok {
		moveOrBlock(x, timeout, false, true)
	}
}

func cmdBlmove(x *command.Call) {
	from, ok := side(x, x.Args[3])
	if !ok {
		return
	}
	to, ok := side(x, x.Args[4])
	if !ok {
		return
	}
	if timeout, ok := x.ParsePatience(x.Args[5]); ok {
		moveOrBlock(x, timeout, from, to)
	}
}

func moveOrBlock(x *command.Call, timeout time.Duration, fromFront, toFront bool) {
	src, ok := listAt(x)
	switch {
	case !ok:
	case src.Value().Exists():
		moveElement(x, fromFront, toFront)
	case x.InTransaction:
		x.Null()
	default:
		x.Host.Block(command.Want{
			Timeout: timeout, Keys: x.Args[1:2], Also: x.Args[2:3], Type: store.List,
			Serve: func(x *command.Call, _ []byte) { moveElement(x, fromFront, toFront) },
		})
	}
}
