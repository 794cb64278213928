package keys

import (
	"math"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/strings"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

func cmdExpire(x *command.Call)    { expire(x, x.Unit.Now(), time.Second) }
func cmdPexpire(x *command.Call)   { expire(x, x.Unit.Now(), time.Millisecond) }
func cmdExpireat(x *command.Call)  { expire(x, 0, time.Second) }
func cmdPexpireat(x *command.Call) { expire(x, 0, time.Millisecond) }

// expireCond are the conditions of EXPIRE and its like.
type expireCond struct{ nx, xx, gt, lt bool }

// met reports whether they let the expiry old, 0 for none, become at. A key
// without an expiry has one that never comes.
func (c *expireCond) met(old, at int64) bool {
	switch {
	case c.nx && old != 0, c.xx && old == 0:
		return false
	case c.gt && (old == 0 || at <= old):
		return false
	case c.lt && old != 0 && at >= old:
		return false
	}
	return true
}

// expire lets args[1] expire args[2] units of time after a time in ms.
func expire(x *command.Call, base int64, unit time.Duration) {
	var cond expireCond
	if msg := cond.parse(x.Args[3:]); msg != "" {
		x.Error(msg)
		return
	}
	at, ok := wire.ParseInt(x.Args[2])
	if !ok {
		x.Error(command.MsgNotInteger)
		return
	}
	ms := unit.Milliseconds()
	if at > math.MaxInt64/ms || at < math.MinInt64/ms || at*ms > math.MaxInt64-base {
		x.Error(strings.InvalidExpire(x))
		return
	}
	at = at*ms + base
	v, ok := get(x, x.Args[1])
	if !ok {
		return
	}
	switch {
	case !v.Exists() || !cond.met(v.Expiry, at):
		x.Int(0)
		return
	case at <= x.Unit.Now():
		x.Unit.Delete(x.Args[1], v)
		x.Unit.Note(store.EventGeneric, "del", x.Args[1])
	default:
		x.Unit.SetExpiry(x.Args[1], v, at)
		x.Unit.Note(store.EventGeneric, "expire", x.Args[1])
	}
	x.Int(1)
}

// parse reads conditions; it returns an error reply, or "".
func (c *expireCond) parse(args [][]byte) string {
	for _, arg := range args {
		switch {
		case wire.EqualFold(arg, "nx"):
			c.nx = true
		case wire.EqualFold(arg, "xx"):
			c.xx = true
		case wire.EqualFold(arg, "gt"):
			c.gt = true
		case wire.EqualFold(arg, "lt"):
			c.lt = true
		default:
			return "ERR Unsupported option " + string(command.Shown(arg, len(arg)))
		}
	}
	switch {
	case c.nx && (c.xx || c.gt || c.lt):
		return "ERR NX and XX, GT or LT options at the same time are not compatible"
	case c.gt && c.lt:
		return "ERR GT and LT options at the same time are not compatible"
	}
	return ""
}

func cmdPersist(x *command.Call) {
	v, ok := get(x, x.Args[1])
	if !ok {
		return
	}
	if v.Expiry == 0 {
		x.Int(0)
		return
	}
	x.Unit.SetExpiry(x.Args[1], v, 0)
	x.Unit.Note(store.EventGeneric, "persist", x.Args[1])
	x.Int(1)
}

func cmdTtl(x *command.Call)         { timeLeft(x, x.Unit.Now(), time.Second) }
func cmdPttl(x *command.Call)        { timeLeft(x, x.Unit.Now(), time.Millisecond) }
func cmdExpiretime(x *command.Call)  { timeLeft(x, 0, time.Second) }
func cmdPexpiretime(x *command.Call) { timeLeft(x, 0, time.Millisecond) }

// timeLeft replies with the time from base, in ms, to the expiry of args[1], in
// the given unit, rounded. Without a key it is -2, without an expiry -1.
func timeLeft(x *command.Call, base int64, unit time.Duration) {
	v, ok := peek(x, x.Args[1])
	if !ok {
		return
	}
	switch {
	case !v.Exists():
		x.Int(-2)
	case v.Expiry == 0:
		x.Int(-1)
	case unit == time.Second:
		ms := v.Expiry - base
		x.Int(ms/1000 + (ms%1000+500)/1000)
	default:
		x.Int(v.Expiry - base)
	}
}
