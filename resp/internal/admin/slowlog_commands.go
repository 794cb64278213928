package admin

import (
	"math"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

func cmdSlowlogGet(x *call) {
	n := int64(10)
	if len(x.Args) > 3 {
		x.WrongSubcommand("SLOWLOG")
		return
	}
	if len(x.Args) == 3 {
		var ok bool
		if n, ok = wire.ParseInt(x.Args[2]); !ok || n < -1 {
			x.Error("ERR count should be greater than or equal to -1")
			return
		}
		if n == -1 {
			n = math.MaxInt64
		}
	}
	entries := x.srv.Slowlog.latest(n)
	x.Array(len(entries))
	for i := range entries {
		e := &entries[i]
		x.Array(6)
		x.Int(e.id)
		x.Int(e.at)
		x.Int(int64(e.took / time.Microsecond))
		x.Array(len(e.args))
		for _, arg := range e.args {
			x.Bulk(arg)
		}
		x.BulkString(e.client)
		x.BulkString(e.name)
	}
}

func cmdSlowlogLen(x *call) { x.Int(x.srv.Slowlog.size()) }

func cmdSlowlogReset(x *call) {
	x.srv.Slowlog.reset()
	x.OK()
}

func cmdSlowlogHelp(x *command.Call) {
	command.Help(x, "SLOWLOG",
		"GET [<count>]",
		"    Show the latest entries, newest first (default: 10, all: -1). An entry",
		"    is: number, Unix time, microseconds, the command's words, the client's",
		"    address and name.",
		"LEN",
		"    Count the entries.",
		"RESET",
		"    Delete the entries.",
	)
}
