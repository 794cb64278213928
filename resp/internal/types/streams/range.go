package streams

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdXrange(x *command.Call) { streamRange(x, x.Args[2], x.Args[3], false) }

func cmdXrevrange(x *command.Call) { streamRange(x, x.Args[3], x.Args[2], true) }

func streamRange(x *command.Call, from, to []byte, back bool) {
	first, last, ok := interval(x, from, to)
	if !ok {
		return
	}
	count := int64(-1)
	for args := x.Args[4:]; len(args) > 0; args = args[2:] {
		if !wire.EqualFold(args[0], "count") || len(args) == 1 {
			x.Error(command.MsgSyntax)
			return
		}
		if count, ok = wire.ParseInt(args[1]); !ok {
			x.Error(command.MsgNotInteger)
			return
		}
		count = max(count, 0)
	}
	s := &x.Stream
	switch {
	case !openWholeStream(x, s, x.Args[1]):
	case !s.Value().Exists():
		x.Array(0)
	case count == 0:
		x.NullArray()
	default:
		_, err := entriesIn(x, s, first, last, max(count, 0), back, nil)
		endReply(x, err)
	}
}
