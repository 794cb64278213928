package strings

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// cmdMsetex sets all keys, or none of them.
func cmdMsetex(x *command.Call) {
	n, ok := wire.ParseInt(x.Args[1])
	if !ok || n < 1 || n > math.MaxInt32 {
		x.Error("ERR invalid numkeys value")
		return
	}
	if n > int64(len(x.Args)-2)/2 {
		x.Error("ERR wrong number of key-value pairs")
		return
	}
	pairs := x.Args[2 : 2+2*n]
	o, msg := parseSetOptions(x.Args[2+2*n:], optionsOfMsetex)
	if msg != "" {
		x.Error(msg)
		return
	}
	expiry, msg := expiryAt(x, &o)
	if msg != "" {
		x.Error(msg)
		return
	}
	values, ok := readPairs(x, pairs)
	if !ok {
		return
	}
	for i := range values {
		if o.nx && values[i].Exists() || o.xx && !values[i].Exists() {
			x.Bool(false)
			return
		}
	}
	expiryOf := func(v store.Value) int64 {
		if o.keepTTL {
			return v.Expiry
		}
		return expiry
	}
	if putPairs(x, pairs, values, expiryOf, o.form != noTime) {
		x.Bool(true)
	}
}
