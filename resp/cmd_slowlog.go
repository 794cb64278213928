package resp

import (
	"math"
	"time"
)

func cmdSlowlogGet(x *call) {
	n := int64(10)
	if len(x.args) > 3 {
		x.wrongSubcommand("SLOWLOG")
		return
	}
	if len(x.args) == 3 {
		var ok bool
		if n, ok = parseInt(x.args[2]); !ok || n < -1 {
			x.err("ERR count should be greater than or equal to -1")
			return
		}
		if n == -1 {
			n = math.MaxInt64
		}
	}
	entries := x.srv.slowlog.latest(n)
	x.array(len(entries))
	for i := range entries {
		e := &entries[i]
		x.array(6)
		x.integer(e.id)
		x.integer(e.at)
		x.integer(int64(e.took / time.Microsecond))
		x.array(len(e.args))
		for _, arg := range e.args {
			x.bulk(arg)
		}
		x.bulkString(e.client)
		x.bulkString(e.name)
	}
}

func cmdSlowlogLen(x *call) { x.integer(x.srv.slowlog.size()) }

func cmdSlowlogReset(x *call) {
	x.srv.slowlog.reset()
	x.ok()
}
