package strings

import (
	"math"
	"math/big"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// increxOptions are the options of INCREX, as the client gave them; nil is an option that is not
// given.
type increxOptions struct {
	byInt, byFloat, lower, upper []byte
	saturate, enx                bool
	expiry                       setOptions // form, time and persist
}

// parseIncrex parses what follows the key. No option may come twice.
func parseIncrex(args [][]byte) (o increxOptions, msg string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		var value *[]byte
		form := timeFormOf(arg)
		switch {
		case wire.EqualFold(arg, "byint"):
			value = &o.byInt
		case wire.EqualFold(arg, "byfloat"):
			value = &o.byFloat
		case wire.EqualFold(arg, "lbound"):
			value = &o.lower
		case wire.EqualFold(arg, "ubound"):
			value = &o.upper
		case form != noTime && o.expiry.form == noTime:
			o.expiry.form, value = form, &o.expiry.time
		case !o.saturate && wire.EqualFold(arg, "saturate"):
			o.saturate = true
			continue
		case !o.enx && wire.EqualFold(arg, "enx"):
			o.enx = true
			continue
		case !o.expiry.persist && wire.EqualFold(arg, "persist"):
			o.expiry.persist = true
			continue
		}
		if value == nil || *value != nil || i+1 == len(args) {
			return o, command.MsgSyntax
		}
		i++
		*value = args[i]
	}
	timed := o.expiry.form != noTime
	switch {
	case o.byInt != nil && o.byFloat != nil, o.expiry.persist && (timed || o.enx):
		return o, command.MsgSyntax
	case o.enx && !timed:
		return o, "ERR ENX flag requires an expiration"
	}
	return o, ""
}

// cmdIncrex adds to a number within bounds, and may set when it expires.
func cmdIncrex(x *command.Call) {
	o, msg := parseIncrex(x.Args[2:])
	if msg != "" {
		x.Error(msg)
		return
	}
	if o.byFloat != nil {
		increxFloat(x, &o)
	} else {
		increxInt(x, &o)
	}
}

// intOr reads an integer among the options, named what; if it is not given, it is n.
func intOr(arg []byte, n int64, what string) (int64, string) {
	if arg == nil {
		return n, ""
	}
	n, ok := wire.ParseInt(arg)
	if !ok {
		return 0, "ERR " + what + " is not an integer or out of range"
	}
	return n, ""
}

func increxInt(x *command.Call, o *increxOptions) {
	by, msg := intOr(o.byInt, 1, "Increment")
	lower, msgLower := intOr(o.lower, math.MinInt64, "LBOUND")
	upper, msgUpper := intOr(o.upper, math.MaxInt64, "UBOUND")
	v, expiry, ok := readIncrex(x, o, msg, msgLower, msgUpper, lower > upper)
	if !ok {
		return
	}
	old := int64(0)
	if v.Exists() {
		if old, ok = wire.ParseInt(v.Inline); !ok || !v.Whole() {
			x.Error(command.MsgNotInteger)
			return
		}
	}
	sum := old + by
	above := by > 0 && sum < old || sum > upper && !(by < 0 && sum > old)
	below := by < 0 && sum > old || sum < lower && !above
	if above || below {
		if !o.saturate {
			x.Array(2)
			x.Int(old)
			x.Int(0)
			return
		}
		if sum = lower; above {
			sum = upper
		}
		if by = sum - old; (by > 0) != (sum > old) && by != 0 {
			x.Error("ERR applied increment would overflow")
			return
		}
	}
	var num [wire.MaxIntText]byte
	if writeIncrex(x, o, v, command.AppendInt(num[:0], sum), expiry, "incrby") {
		x.Array(2)
		x.Int(sum)
		x.Int(by)
	}
}

// floatOr reads a number among the options, named what; if it is not given, it is f.
func floatOr(arg []byte, f *big.Float, what string) (*big.Float, string) {
	if arg == nil {
		return f, ""
	}
	f, ok := wire.ParseLongDouble(arg)
	if !ok {
		return wire.NewLongDouble(), "ERR " + what + " is not a valid float"
	}
	return f, ""
}

func increxFloat(x *command.Call, o *increxOptions) {
	most := wire.MaxLongDouble()
	by, msg := floatOr(o.byFloat, nil, "Increment")
	if by.IsInf() {
		msg = "ERR BYFLOAT increment cannot be Infinity"
	}
	lower, msgLower := floatOr(o.lower, wire.NewLongDouble().Neg(most), "LBOUND")
	upper, msgUpper := floatOr(o.upper, most, "UBOUND")
	v, expiry, ok := readIncrex(x, o, msg, msgLower, msgUpper, lower.Cmp(upper) > 0)
	if !ok {
		return
	}
	old := wire.NewLongDouble()
	if v.Exists() {
		if old, ok = wire.ParseLongDouble(v.Inline); !ok || !v.Whole() {
			x.Error(command.MsgNotFloat)
			return
		}
		if old.IsInf() {
			x.Error("ERR value cannot be Infinity")
			return
		}
	}
	sum := wire.NewLongDouble().Add(old, by)
	above := sum.Cmp(upper) > 0 || sum.Cmp(most) > 0
	below := sum.Cmp(lower) < 0 || wire.NewLongDouble().Neg(sum).Cmp(most) > 0
	if above || below {
		if !o.saturate {
			replyFloats(x, old, wire.NewLongDouble())
			return
		}
		if sum = lower; above {
			sum = upper
		}
		if !sum.IsInf() {
			by = wire.NewLongDouble().Sub(sum, old)
		}
		if sum.IsInf() || wire.NewLongDouble().Abs(by).Cmp(most) > 0 {
			x.Error("ERR applied increment would be Infinity")
			return
		}
	}
	if writeIncrex(x, o, v, wire.AppendLongDouble(nil, sum), expiry, "incrbyfloat") {
		replyFloats(x, sum, by)
	}
}

func replyFloats(x *command.Call, value, by *big.Float) {
	x.Array(2)
	x.DoubleText(wire.AppendLongDouble(nil, value))
	x.DoubleText(wire.AppendLongDouble(nil, by))
}

// readIncrex refuses what is wrong with the options, the first message first, and reads the key.
// It has replied if ok is false.
func readIncrex(x *command.Call, o *increxOptions, msg, msgLower, msgUpper string, crossed bool) (v store.Value, expiry int64, ok bool) {
	for _, m := range [...]string{msg, msgLower, msgUpper} {
		if m != "" {
			x.Error(m)
			return v, 0, false
		}
	}
	if crossed {
		x.Error("ERR LBOUND can't be greater than UBOUND")
		return v, 0, false
	}
	if expiry, msg = expiryAt(x, &o.expiry); msg != "" {
		x.Error(msg)
		return v, 0, false
	}
	v, ok = x.GetString(x.Args[1])
	return v, expiry, ok
}

// writeIncrex stores a sum, with the expiry that the options ask for. It has replied if it returns
// false. A key whose expiry is past is removed.
func writeIncrex(x *command.Call, o *increxOptions, v store.Value, sum []byte, expiry int64, event string) bool {
	key := x.Args[1]
	timed := o.expiry.form != noTime && !(o.enx && v.Expiry != 0)
	if timed && expiry <= x.Unit.Now() {
		if v.Exists() {
			x.Unit.Delete(key, v)
			x.Unit.Note(store.EventString, event, key)
			x.Unit.Note(store.EventGeneric, "del", key)
		}
		return true
	}
	switch {
	case o.expiry.persist:
		expiry = 0
	case !timed:
		expiry = v.Expiry
	}
	if err := x.Unit.PutString(key, v, sum, expiry, false); err != nil {
		x.Fail(err)
		return false
	}
	x.Unit.Note(store.EventString, event, key)
	switch {
	case timed:
		x.Unit.Note(store.EventGeneric, "expire", key)
	case o.expiry.persist && v.Expiry != 0:
		x.Unit.Note(store.EventGeneric, "persist", key)
	}
	return true
}
