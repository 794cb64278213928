package command

import (
	"math"
	"math/big"
	"time"

	"github.com/ringside-kv/ringside/resp/wire"
)

// A Pop is what LMPOP, ZMPOP and those of them that wait are to take: up to so many
// elements from an end of the first of some keys that exists.
type Pop struct {
	Keys  [][]byte
	First bool // the end was named by the first of its two words
	Most  int64
}

// ParseMpop reads the arguments from the number of keys on, which is args[at]; first and
// second are the words for the ends. It has replied, and returns false, if they are wrong.
func (x *Call) ParseMpop(at int, first, second string) (o Pop, ok bool) {
	n, ok := wire.ParseInt(x.Args[at])
	if !ok || n < 1 {
		x.Error("ERR numkeys should be greater than 0")
		return o, false
	}
	at++
	if n > int64(len(x.Args)-at-1) {
		x.Error(MsgSyntax)
		return o, false
	}
	o.Keys, o.Most = x.Args[at:at+int(n)], 1
	rest := x.Args[at+int(n):]
	o.First = wire.EqualFold(rest[0], first)
	if !o.First && !wire.EqualFold(rest[0], second) {
		x.Error(MsgSyntax)
		return o, false
	}
	counted := false
	for rest = rest[1:]; len(rest) > 0; rest = rest[2:] { // in order, as Redis does: the first fault is the answer
		if counted || len(rest) < 2 || !wire.EqualFold(rest[0], "count") {
			x.Error(MsgSyntax)
			return o, false
		}
		if o.Most, counted = wire.ParseInt(rest[1]); !counted || o.Most < 1 {
			x.Error("ERR count should be greater than 0")
			return o, false
		}
	}
	return o, true
}

// ParseMpopBehindTime is ParseMpop for arguments behind the time that a command may wait.
func (x *Call) ParseMpopBehindTime(first, second string) (o Pop, timeout time.Duration, ok bool) {
	if o, ok = x.ParseMpop(2, first, second); ok {
		timeout, ok = x.ParsePatience(x.Args[1])
	}
	return o, timeout, ok
}

// firstThere is the number of the first of some keys that exists, as there tells, which opens
// it; -1 if none does. It returns false if there has replied with an error.
func (x *Call) firstThere(keys [][]byte, there func(x *Call, key []byte) (there, ok bool)) (int, bool) {
	for i, key := range keys {
		switch exists, ok := there(x, key); {
		case !ok:
			return -1, false
		case exists:
			return i, true
		}
	}
	return -1, true
}

// PopFirst has pop reply for the first key that exists.
func (x *Call) PopFirst(o Pop, there func(x *Call, key []byte) (there, ok bool), pop func(x *Call, key []byte, o Pop)) {
	switch i, ok := x.firstThere(o.Keys, there); {
	case !ok:
	case i < 0:
		x.NullArray()
	default:
		pop(x, o.Keys[i], o)
	}
}

// PopOrBlock has a want served, which takes something from the first of its keys that exists
// and replies, or waits until one does.
func (x *Call) PopOrBlock(w Want, there func(x *Call, key []byte) (there, ok bool)) {
	switch i, ok := x.firstThere(w.Keys, there); {
	case !ok:
	case i < 0:
		take := w.Serve
		w.Serve = func(x *Call, key []byte) { take(x, x.firstServed(&w, key)) }
		x.Host.Block(w)
	default:
		w.Serve(x, w.Keys[i])
	}
}

// firstServed is the first key of a want that has a value for it: key itself, or one before it that the unit has
// written, too.
func (x *Call) firstServed(w *Want, key []byte) []byte {
	for _, k := range w.Keys {
		if string(k) == string(key) {
			break
		}
		if !x.HoldsLatch(k) {
			continue
		}
		if v, err := x.Unit.Peek(k); err == nil && v.Type == w.Type {
			return k
		}
	}
	return key
}

// HoldsLatch reports whether the unit has the latch of a key. While a want waits for keys, only a unit that has the latch
// of one has written a value there that the want is to have.
func (x *Call) HoldsLatch(key []byte) bool { return x.Unit.HasLatch(x.Unit.Place(key)) }

// ParsePatience reads for how many seconds a command may wait, with a fraction perhaps; 0 is
// for ever. It has replied, and returns false, if the argument says no such time.
func (x *Call) ParsePatience(arg []byte) (time.Duration, bool) {
	seconds, ok := wire.ParseLongDouble(arg)
	if !ok {
		x.Error("ERR timeout is not a float or out of range")
		return 0, false
	}
	// Redis counts whole milliseconds, rounded up.
	ms := wire.NewLongDouble().Mul(seconds, big.NewFloat(1000))
	n, accuracy := ms.Int64()
	if accuracy == big.Below && ms.Sign() > 0 && !ms.IsInf() && n < 1<<63-1 {
		n++
	}
	switch {
	case n < 0:
		x.Error("ERR timeout is negative")
		return 0, false
	case n > math.MaxInt64-time.Now().UnixMilli():
		x.Error(msgTimeoutRange)
		return 0, false
	}
	return time.Duration(min(n, int64(Forever/time.Millisecond))) * time.Millisecond, true
}

// Forever is for ever.
const Forever = 100 * 365 * 24 * time.Hour
