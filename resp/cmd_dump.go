package resp

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/store/rdb"
)

// dumpOverhead is the most that a payload and its reply add to a value.
const dumpOverhead = 64

// cmdDump neither reads nor compresses a large value while latches are held.
func cmdDump(x *call) {
	key := x.args[1]
	v, ok := x.get(key)
	if !ok {
		return
	}
	if !v.Exists() {
		x.null()
		return
	}
	fits := x.keepable(v.Size + dumpOverhead)
	if (v.Size > largeReply || !fits) && (x.unit.Latched() || len(x.buf) > 0 || x.conn.runsAhead() && !x.apart) {
		x.again = true
		return
	}
	if !fits {
		x.err(x.overOutputBuffer())
		return
	}
	value, err := x.unit.Bytes(key, v)
	if err != nil {
		x.fail(err)
		return
	}
	x.bulk(rdb.AppendString(nil, value))
}

// restoreOptions are the options of RESTORE that change what it does. IDLETIME and
// FREQ are checked and have no effect: a value that is restored has just been used.
type restoreOptions struct{ replace, absolute bool }

func cmdRestore(x *call) {
	key := x.args[1]
	o, msg := parseRestoreOptions(x.args[4:])
	if msg != "" {
		x.err(msg)
		return
	}
	old, ok := x.peek(key)
	if !ok {
		return
	}
	if old.Exists() && !o.replace {
		x.err("BUSYKEY Target key name already exists.")
		return
	}
	expiry, msg := x.restoreExpiry(o.absolute)
	if msg != "" {
		x.err(msg)
		return
	}
	value, err := rdb.Decode(x.args[3], x.srv.settings.maxValue.Load())
	if err != nil {
		x.err(payloadErrorText(err))
		return
	}
	if expiry != 0 && expiry <= x.unit.Now() {
		x.unit.Delete(key, old)
		x.ok()
		return
	}
	if err := x.unit.PutString(key, old, value.Bytes, expiry, false); err != nil {
		x.fail(err)
		return
	}
	x.ok()
}

// parseRestoreOptions returns an error reply, or "".
func parseRestoreOptions(args [][]byte) (o restoreOptions, msg string) {
	idle, freq := false, false
	for ; len(args) > 0; args = args[1:] {
		limit := int64(math.MaxInt64)
		switch {
		case equalFold(args[0], "replace"):
			o.replace = true
			continue
		case equalFold(args[0], "absttl"):
			o.absolute = true
			continue
		case equalFold(args[0], "idletime") && len(args) > 1 && !freq:
			idle, msg = true, "ERR Invalid IDLETIME value, must be >= 0"
		case equalFold(args[0], "freq") && len(args) > 1 && !idle:
			freq, msg = true, "ERR Invalid FREQ value, must be >= 0 and <= 255"
			limit = 255
		default:
			return o, msgSyntax
		}
		n, ok := parseInt(args[1])
		if !ok {
			return o, msgNotInteger
		}
		if n < 0 || n > limit {
			return o, msg
		}
		args = args[1:]
	}
	return o, ""
}

// restoreExpiry returns the expiry that args[2] says, in ms since 1970 or 0 for
// none, or an error reply.
func (x *call) restoreExpiry(absolute bool) (int64, string) {
	n, ok := parseInt(x.args[2])
	switch {
	case !ok:
		return 0, msgNotInteger
	case n < 0:
		return 0, "ERR Invalid TTL value, must be >= 0"
	case n == 0 || absolute:
		return n, ""
	case n > math.MaxInt64-x.unit.Now():
		return 0, x.invalidExpire()
	}
	return n + x.unit.Now(), ""
}

// payloadErrorText turns an error of rdb.Decode into a reply.
func payloadErrorText(err error) string {
	switch {
	case errors.Is(err, rdb.ErrPayload):
		return "ERR DUMP payload version or checksum are wrong"
	case errors.Is(err, rdb.ErrFormat):
		return "ERR Bad data format"
	case errors.Is(err, rdb.ErrTooLarge):
		return msgTooLong
	}
	return "ERR RESTORE: " + err.Error()
}
