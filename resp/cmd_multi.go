package resp

import "github.com/ringside-kv/ringside/store"

// The commands on several strings.

func cmdMget(x *Call) {
	at := len(x.Buf)
	x.Array(len(x.args) - 1)
	for _, key := range x.args[1:] {
		v, err := x.unit.Get(key)
		if err == nil {
			x.saw(key, &v)
		}
		switch {
		case err != nil:
		case v.Type != store.String:
			x.Null()
			continue
		case !x.keepable(v.Size):
			x.Buf = x.Buf[:at]
			x.replyTooLarge()
			return
		default:
			x.Buf, err = x.appendBulk(key, v, 0, v.Size)
		}
		if err != nil {
			x.Buf = x.Buf[:at]
			x.fail(err)
			return
		}
	}
}

func cmdMset(x *Call) {
	if values, ok := x.readPairs(); ok && x.putPairs(values) {
		x.OK()
	}
}

func cmdMsetnx(x *Call) {
	values, ok := x.readPairs()
	if !ok {
		return
	}
	for i := range values {
		if values[i].Exists() {
			x.Bool(false)
			return
		}
	}
	if x.putPairs(values) {
		x.Bool(true)
	}
}

// keptValues is how many values are kept for the next MSET.
const keptValues = 1 << 10

// readPairs reads what is at the keys of MSET before anything is written, so that
// a key that cannot be read leaves the others as they are. It has replied if it
// returns false.
func (x *Call) readPairs() (values []store.Value, ok bool) {
	if len(x.args)%2 == 0 {
		x.Error("ERR wrong number of arguments for '" + x.cmd.full + "' command")
		return nil, false
	}
	values = x.values[:0]
	for i := 1; i < len(x.args); i += 2 {
		v, err := x.unit.Get(x.args[i])
		if err != nil {
			x.fail(err)
			return nil, false
		}
		values = append(values, v)
	}
	if cap(values) <= keptValues {
		x.values = values
	}
	return values, true
}

// putPairs writes the pairs of MSET; it has replied if it returns false.
func (x *Call) putPairs(values []store.Value) bool {
	defer clear(values) // they point to what the unit has read
	for i, v := range values {
		key, value := x.args[1+2*i], x.args[2+2*i]
		var err error
		if i > 0 && x.unit.Changed(key) {
			v, err = x.unit.Get(key) // perhaps by an earlier pair
		}
		if err == nil {
			err = x.unit.PutString(key, v, value, 0, false)
		}
		if err != nil {
			x.abort(err)
			return false
		}
		x.unit.Note(store.EventString, "set", key)
	}
	return true
}
