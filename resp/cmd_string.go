package resp

import (
	"math"

	"github.com/ringside-kv/ringside/store"
)

func cmdGet(x *call) {
	v, ok := x.getString(x.args[1])
	if !ok {
		return
	}
	if !v.Exists() {
		x.null()
		return
	}
	x.stringRange(x.args[1], v, 0, v.Size)
}

// setOptions are the options of SET and GETEX.
type setOptions struct {
	nx, xx, get, keepTTL, persist bool
	expiry                        int64 // ms since 1970; 0: none
	expires                       bool  // an expiry was given
}

// parseSetOptions parses what follows the key, and for SET the value. It returns
// an error reply, or "".
func (x *call) parseSetOptions(args [][]byte, isSet bool) (o setOptions, msg string) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		unit, absolute := int64(0), false
		switch {
		case isSet && equalFold(arg, "nx") && !o.xx:
			o.nx = true
		case isSet && equalFold(arg, "xx") && !o.nx:
			o.xx = true
		case isSet && equalFold(arg, "get"):
			o.get = true
		case isSet && equalFold(arg, "keepttl") && !o.expires:
			o.keepTTL = true
		case !isSet && equalFold(arg, "persist") && !o.expires:
			o.persist = true
		case equalFold(arg, "ex"):
			unit = 1000
		case equalFold(arg, "px"):
			unit = 1
		case equalFold(arg, "exat"):
			unit, absolute = 1000, true
		case equalFold(arg, "pxat"):
			unit, absolute = 1, true
		default:
			return o, msgSyntax
		}
		if unit == 0 {
			continue
		}
		if o.expires || o.keepTTL || o.persist || i+1 == len(args) {
			return o, msgSyntax
		}
		i++
		if o.expiry, msg = x.expiryAt(args[i], unit, absolute); msg != "" {
			return o, msg
		}
		o.expires = true
	}
	return o, ""
}

// expiryAt parses a positive time in units of so many ms and returns it in ms
// since 1970, or an error reply.
func (x *call) expiryAt(arg []byte, unit int64, absolute bool) (int64, string) {
	n, ok := parseInt(arg)
	if !ok {
		return 0, msgNotInteger
	}
	if n <= 0 || n > math.MaxInt64/unit {
		return 0, x.invalidExpire()
	}
	n *= unit
	if !absolute {
		if n > math.MaxInt64-x.unit.Now() {
			return 0, x.invalidExpire()
		}
		n += x.unit.Now()
	}
	return n, ""
}

func (x *call) invalidExpire() string {
	return "ERR invalid expire time in '" + x.cmd.full + "' command"
}

func cmdSet(x *call) {
	key, value := x.args[1], x.args[2]
	o, msg := x.parseSetOptions(x.args[3:], true)
	if msg != "" {
		x.err(msg)
		return
	}
	v, err := x.unit.Get(key)
	if err != nil {
		x.fail(err)
		return
	}
	if o.get && v.Exists() && v.Type != store.String {
		x.err(msgWrongType)
		return
	}
	if o.nx && v.Exists() || o.xx && !v.Exists() {
		if !o.get || !v.Exists() {
			x.null()
			return
		}
		x.wholeString(key, v)
		return
	}
	at := len(x.buf)
	if o.get {
		if !v.Exists() {
			x.null()
		} else if !x.wholeString(key, v) {
			return
		}
	}
	expiry := o.expiry
	if o.keepTTL {
		expiry = v.Expiry
	}
	if err := x.unit.PutString(key, v, value, expiry, false); err != nil {
		x.buf = x.buf[:at]
		x.fail(err)
		return
	}
	if !o.get {
		x.ok()
	}
}

func cmdMset(x *call) {
	if len(x.args)%2 == 0 {
		x.err("ERR wrong number of arguments for 'mset' command")
		return
	}
	for i := 1; i < len(x.args); i += 2 {
		v, err := x.unit.Get(x.args[i])
		if err == nil {
			err = x.unit.PutString(x.args[i], v, x.args[i+1], 0, false)
		}
		if err != nil {
			x.abort(err)
			return
		}
	}
	x.ok()
}

func cmdIncr(x *call) { x.incrBy(1) }

// incrBy adds n to the integer at args[1].
func (x *call) incrBy(n int64) {
	v, ok := x.getString(x.args[1])
	if !ok {
		return
	}
	old := int64(0)
	if v.Exists() {
		if old, ok = parseInt(v.Inline); !ok || !v.Whole() {
			x.err(msgNotInteger)
			return
		}
	}
	if n < 0 && old < math.MinInt64-n || n > 0 && old > math.MaxInt64-n {
		x.err(msgOverflow)
		return
	}
	old += n
	var num [20]byte
	if err := x.unit.PutString(x.args[1], v, appendInt(num[:0], old), v.Expiry, false); err != nil {
		x.fail(err)
		return
	}
	x.integer(old)
}
