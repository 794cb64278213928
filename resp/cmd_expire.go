package resp

import (
	"math"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

func cmdExpire(x *Call)    { x.expire(x.unit.Now(), time.Second) }
func cmdPexpire(x *Call)   { x.expire(x.unit.Now(), time.Millisecond) }
func cmdExpireat(x *Call)  { x.expire(0, time.Second) }
func cmdPexpireat(x *Call) { x.expire(0, time.Millisecond) }

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
func (x *Call) expire(base int64, unit time.Duration) {
	var cond expireCond
	if msg := cond.parse(x.args[3:]); msg != "" {
		x.Error(msg)
		return
	}
	at, ok := wire.ParseInt(x.args[2])
	if !ok {
		x.Error(msgNotInteger)
		return
	}
	ms := unit.Milliseconds()
	if at > math.MaxInt64/ms || at < math.MinInt64/ms || at*ms > math.MaxInt64-base {
		x.Error(x.invalidExpire())
		return
	}
	at = at*ms + base
	v, ok := x.get(x.args[1])
	if !ok {
		return
	}
	switch {
	case !v.Exists() || !cond.met(v.Expiry, at):
		x.Int(0)
		return
	case at <= x.unit.Now():
		x.unit.Delete(x.args[1], v)
		x.unit.Note(store.EventGeneric, "del", x.args[1])
	default:
		x.unit.SetExpiry(x.args[1], v, at)
		x.unit.Note(store.EventGeneric, "expire", x.args[1])
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
			return "ERR Unsupported option " + string(shown(arg, len(arg)))
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

func cmdPersist(x *Call) {
	v, ok := x.get(x.args[1])
	if !ok {
		return
	}
	if v.Expiry == 0 {
		x.Int(0)
		return
	}
	x.unit.SetExpiry(x.args[1], v, 0)
	x.unit.Note(store.EventGeneric, "persist", x.args[1])
	x.Int(1)
}

func cmdTtl(x *Call)         { x.timeLeft(x.unit.Now(), time.Second) }
func cmdPttl(x *Call)        { x.timeLeft(x.unit.Now(), time.Millisecond) }
func cmdExpiretime(x *Call)  { x.timeLeft(0, time.Second) }
func cmdPexpiretime(x *Call) { x.timeLeft(0, time.Millisecond) }

// timeLeft replies with the time from base, in ms, to the expiry of args[1], in
// the given unit, rounded. Without a key it is -2, without an expiry -1.
func (x *Call) timeLeft(base int64, unit time.Duration) {
	v, ok := x.peek(x.args[1])
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
