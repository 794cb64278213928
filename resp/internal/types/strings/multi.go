package strings

import (
	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
)

// The commands on several strings.

func cmdMget(x *command.Call) {
	at := len(x.Buf)
	x.Array(len(x.Args) - 1)
	for _, key := range x.Args[1:] {
		v, err := x.Unit.Get(key)
		if err == nil {
			x.CountRead(key, &v)
		}
		switch {
		case err != nil:
		case v.Type != store.String:
			x.Null()
			continue
		case !x.FitsReply(v.Size):
			x.Buf = x.Buf[:at]
			x.ReplyTooLarge()
			return
		default:
			x.Buf, err = x.AppendBulk(key, v, 0, v.Size)
		}
		if err != nil {
			x.Buf = x.Buf[:at]
			x.Fail(err)
			return
		}
	}
}

func cmdMset(x *command.Call) {
	if values, ok := readAllPairs(x); ok && putPairs(x, x.Args[1:], values, noExpiry, false) {
		x.OK()
	}
}

func cmdMsetnx(x *command.Call) {
	values, ok := readAllPairs(x)
	if !ok {
		return
	}
	for i := range values {
		if values[i].Exists() {
			x.Bool(false)
			return
		}
	}
	if putPairs(x, x.Args[1:], values, noExpiry, false) {
		x.Bool(true)
	}
}

// keptValues is how many values are kept for the next MSET.
const keptValues = 1 << 10

// noExpiry is for commands that remove the expiry of keys.
func noExpiry(store.Value) int64 { return 0 }

// readAllPairs is readPairs for commands with nothing but pairs.
func readAllPairs(x *command.Call) (values []store.Value, ok bool) {
	if len(x.Args)%2 == 0 {
		x.Error("ERR wrong number of arguments for '" + x.Row.Full + "' command")
		return nil, false
	}
	return readPairs(x, x.Args[1:])
}

// readPairs reads what is at the keys of MSET before anything is written, so that
// a key that cannot be read leaves the others as they are. It has replied if it
// returns false.
func readPairs(x *command.Call, pairs [][]byte) (values []store.Value, ok bool) {
	values = x.Values[:0]
	for i := 0; i < len(pairs); i += 2 {
		v, err := x.Unit.Head(pairs[i])
		if err != nil {
			x.Fail(err)
			return nil, false
		}
		values = append(values, v)
	}
	if cap(values) <= keptValues {
		x.Values = values
	}
	return values, true
}

// putPairs writes the pairs of MSET, each with an expiry that may depend on what was there; it has
// replied if it returns false. timed: they get a time to live, which is an event.
func putPairs(x *command.Call, pairs [][]byte, values []store.Value, expiry func(store.Value) int64, timed bool) bool {
	defer clear(values) // they point to what the unit has read
	for i, v := range values {
		key, value := pairs[2*i], pairs[2*i+1]
		var err error
		if i > 0 && x.Unit.Changed(key) {
			v, err = x.Unit.Head(key) // perhaps by an earlier pair
		}
		if err == nil {
			err = x.Unit.PutString(key, v, value, expiry(v), false)
		}
		if err != nil {
			x.Abort(err)
			return false
		}
		x.Unit.Note(store.EventString, "set", key)
		if timed {
			x.Unit.Note(store.EventGeneric, "expire", key)
		}
	}
	return true
}
