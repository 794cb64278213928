package strings

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// lcsOptions are the options of LCS.
type lcsOptions struct {
	idx, length, withLength bool
	minLength               int64
}

// parseLCSOptions returns an error reply, or "".
func parseLCSOptions(args [][]byte) (o lcsOptions, msg string) {
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case wire.EqualFold(arg, "idx"):
			o.idx = true
		case wire.EqualFold(arg, "len"):
			o.length = true
		case wire.EqualFold(arg, "withmatchlen"):
			o.withLength = true
		case wire.EqualFold(arg, "minmatchlen") && i+1 < len(args):
			i++
			n, ok := wire.ParseInt(args[i])
			if !ok {
				return o, command.MsgNotInteger
			}
			o.minLength = max(n, 0)
		default:
			return o, command.MsgSyntax
		}
	}
	if o.idx && o.length {
		return o, "ERR If you want both the length and indexes, please just use IDX."
	}
	return o, ""
}

func cmdLcs(x *command.Call) {
	var values [2]store.Value
	for i := range values {
		v, err := x.Unit.Get(x.Args[1+i])
		if err != nil {
			x.Fail(err)
			return
		}
		x.CountRead(x.Args[1+i], &v)
		values[i] = v
	}
	for _, v := range values {
		if v.Exists() && v.Type != store.String {
			x.Error("ERR The specified keys must contain string values")
			return
		}
	}
	o, msg := parseLCSOptions(x.Args[3:])
	if msg != "" {
		x.Error(msg)
		return
	}
	limit := x.Limits.MaxValue.Load()
	if !lcsFits(int(values[0].Size), int(values[1].Size), limit) {
		x.Error(errLCSMemory.Error()) // before they are read
		return
	}
	if values[0].Size == 0 || values[1].Size == 0 {
		replyLCS(x, nil, nil, &o, limit) // the other value is not read
		return
	}
	if !x.TakeUpTo(lcsMemory(values[0].Size, values[1].Size)) {
		x.RefuseByLimit(command.MsgNoMemory)
		return
	}
	a, err := x.Unit.Bytes(x.Args[1], values[0])
	if err == nil {
		var b []byte
		if b, err = x.Unit.Bytes(x.Args[2], values[1]); err == nil {
			replyLCS(x, a, b, &o, limit)
			return
		}
	}
	x.Fail(err)
}

// replyLCS replies with what the options ask for.
func replyLCS(x *command.Call, a, b []byte, o *lcsOptions, limit int64) {
	if o.length {
		n, err := lcsLen(a, b, limit)
		if err != nil {
			x.Error(err.Error())
			return
		}
		x.Int(int64(n))
		return
	}
	common, ranges, err := lcs(a, b, limit)
	switch {
	case err != nil:
		x.Error(err.Error())
	case o.idx:
		lcsRanges(x, ranges, len(common), o)
	default:
		x.Bulk(common)
	}
}

func lcsRanges(x *command.Call, ranges []lcsRange, length int, o *lcsOptions) {
	n := 0
	for _, r := range ranges {
		if int64(r.length()) >= o.minLength {
			n++
		}
	}
	x.Map(2)
	x.BulkString("matches")
	x.Array(n)
	for _, r := range ranges {
		if int64(r.length()) < o.minLength {
			continue
		}
		if o.withLength {
			x.Array(3)
		} else {
			x.Array(2)
		}
		for _, ends := range [2][2]int{{r.aFrom, r.aTo}, {r.bFrom, r.bTo}} {
			x.Array(2)
			x.Int(int64(ends[0]))
			x.Int(int64(ends[1]))
		}
		if o.withLength {
			x.Int(int64(r.length()))
		}
	}
	x.BulkString("len")
	x.Int(int64(length))
}
