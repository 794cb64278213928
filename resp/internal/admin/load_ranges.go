package admin

import (
	"fmt"
	"strconv"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/ring/load"
)

// LoadRanges is LOADLEVELS RANGES [pieces]: the ranges that this node serves, each with operations and bytes per
// second, keys and stored bytes. With a number of pieces, ranges are cut at the bounds of as many equal parts of
// the circle. size estimates the keys and bytes of ranges that do not wrap.
func LoadRanges(x *command.Call, own func(yield func(ring.Range) bool), rate func(ring.Range) load.Rate, size func([]ring.Range) (keys, bytes int64)) {
	pieces := int64(1)
	if len(x.Args) > 3 || !wire.EqualFold(x.Args[1], "ranges") {
		x.Error(command.MsgSyntax)
		return
	}
	if len(x.Args) == 3 {
		var ok bool
		if pieces, ok = wire.ParseInt(x.Args[2]); !ok || pieces < 1 || pieces > load.Cells {
			x.Error(fmt.Sprintf("ERR the number of pieces must be within 1..%d", load.Cells))
			return
		}
	}
	var all []ring.Range
	for r := range own {
		if pieces == 1 {
			all = append(all, r)
			continue
		}
		all = append(all, r.Cut(uint64(pieces))...)
	}
	x.Array(len(all))
	for _, r := range all {
		of := rate(r)
		keys, bytes := size(r.Cut(1))
		x.Array(5)
		x.BulkString(r.String())
		x.BulkString(strconv.FormatFloat(of.Ops, 'f', 3, 64))
		x.BulkString(strconv.FormatFloat(of.Bytes, 'f', 1, 64))
		x.Int(keys)
		x.Int(bytes)
	}
}
