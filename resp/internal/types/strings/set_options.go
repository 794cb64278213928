package strings

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
)

// setOptions are the options of SET, GETEX and MSETEX.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool
	cond                          condition
	form                          timeForm
	time                          []byte // as the client gave it, unless form is noTime
}

// A timeForm is the option that an expiry was given by.
type timeForm uint8

const (
	noTime timeForm = iota
	timeEX          // seconds from now
	timePX          // milliseconds from now
	timeEXAT
	timePXAT
)

// timeFormOf returns the form that an option names.
func timeFormOf(arg []byte) timeForm {
	switch {
	case wire.EqualFold(arg, "ex"):
		return timeEX
	case wire.EqualFold(arg, "px"):
		return timePX
	case wire.EqualFold(arg, "exat"):
		return timeEXAT
	case wire.EqualFold(arg, "pxat"):
		return timePXAT
	}
	return noTime
}

// An optionSet says which command options belong to.
type optionSet uint8

const (
	optionsOfSet optionSet = iota
	optionsOfGetex
	optionsOfMsetex
)

// parseSetOptions parses what follows the key, and for SET the value. It returns
// an error reply, or "". The time is not looked at yet: Redis first wants all
// options to be right.
func parseSetOptions(args [][]byte, of optionSet) (o setOptions, msg string) {
	isSet, isGetex := of == optionsOfSet, of == optionsOfGetex
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case !isGetex && !o.xx && o.cond.kind == noCondition && wire.EqualFold(arg, "nx"):
			o.nx = true
			continue
		case !isGetex && !o.nx && o.cond.kind == noCondition && wire.EqualFold(arg, "xx"):
			o.xx = true
			continue
		case isSet && !o.nx && !o.xx && o.cond.kind == noCondition && i+1 < len(args) && conditionOf(arg) != noCondition:
			o.cond = condition{kind: conditionOf(arg), with: args[i+1]}
			i++
			continue
		case isSet && wire.EqualFold(arg, "get"):
			o.get = true
			continue
		case !isGetex && o.form == noTime && wire.EqualFold(arg, "keepttl"):
			o.keepTTL = true
			continue
		case isGetex && o.form == noTime && wire.EqualFold(arg, "persist"):
			o.persist = true
			continue
		}
		// The same form may come again: the last one counts.
		form := timeFormOf(arg)
		if form == noTime || o.form != noTime && o.form != form || o.keepTTL || o.persist || i+1 == len(args) {
			return o, command.MsgSyntax
		}
		i++
		o.form, o.time = form, args[i]
	}
	return o, ""
}

// expiryAt returns the expiry that the options ask for, in ms since 1970, 0 for
// none, or an error reply.
func expiryAt(x *command.Call, o *setOptions) (int64, string) {
	if o.form == noTime {
		return 0, ""
	}
	n, ok := wire.ParseInt(o.time)
	if !ok {
		return 0, command.MsgNotInteger
	}
	inSeconds := o.form == timeEX || o.form == timeEXAT
	if n <= 0 || inSeconds && n > math.MaxInt64/1000 {
		return 0, InvalidExpire(x)
	}
	if inSeconds {
		n *= 1000
	}
	if o.form == timeEX || o.form == timePX {
		if n > math.MaxInt64-x.Unit.Now() {
			return 0, InvalidExpire(x)
		}
		n += x.Unit.Now()
	}
	return n, ""
}

// InvalidExpire is the error for a time to live that no key can have.
func InvalidExpire(x *command.Call) string {
	return "ERR invalid expire time in '" + x.Row.Full + "' command"
}

// setKeyFlags: SET reads the key only with GET or a condition on the value.
func setKeyFlags(args [][]byte) string {
	for _, arg := range args[3:] {
		if wire.EqualFold(arg, "get") || conditionOf(arg) != noCondition {
			return "RW access update"
		}
	}
	return "OW update"
}
