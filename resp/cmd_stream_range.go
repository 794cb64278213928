package resp

import "github.com/ringside-kv/ringside/resp/wire"

func cmdXrange(x *Call) { x.streamRange(x.args[2], x.args[3], false) }

func cmdXrevrange(x *Call) { x.streamRange(x.args[3], x.args[2], true) }

func (x *Call) streamRange(from, to []byte, back bool) {
	first, last, ok := x.interval(from, to)
	if !ok {
		return
	}
	count := int64(-1)
	for args := x.args[4:]; len(args) > 0; args = args[2:] {
		if !wire.EqualFold(args[0], "count") || len(args) == 1 {
			x.Error(msgSyntax)
			return
		}
		if count, ok = wire.ParseInt(args[1]); !ok {
			x.Error(msgNotInteger)
			return
		}
		count = max(count, 0)
	}
	s := &x.stream
	switch {
	case !x.openWholeStream(s, x.args[1]):
	case !s.Value().Exists():
		x.Array(0)
	case count == 0:
		x.NullArray()
	default:
		_, err := x.entriesIn(s, first, last, max(count, 0), back, nil)
		x.endReply(err)
	}
}
