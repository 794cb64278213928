package resp

import (
	"errors"
	"math"

	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/rdb"
)

const (
	// dumpOverhead is the most that a payload and its reply add to a value,
	dumpOverhead = 64
	// and dumpElement to an element of it, with its value.
	dumpElement = 10
)

// cmdDump neither reads nor compresses a large value while latches are held.
func cmdDump(x *Call) {
	key := x.args[1]
	v, err := x.unit.GetWhole(key)
	if err != nil {
		x.fail(err)
		return
	}
	x.saw(key, &v)
	if !v.Exists() {
		x.Null()
		return
	}
	if x.deferred(v.Size + dumpOverhead + v.Count*dumpElement) {
		return
	}
	if !x.needs(v.Size + dumpOverhead + v.Count*dumpElement) {
		x.limit(msgNoMemory)
		return
	}
	payload, err := collection.AppendDump(nil, x.unit, key, v)
	if err != nil {
		x.fail(err)
		return
	}
	x.Bulk(payload)
}

// restoreOptions are the options of RESTORE that change what it does. IDLETIME and
// FREQ are checked and have no effect: a value that is restored has just been used.
type restoreOptions struct{ replace, absolute bool }

func cmdRestore(x *Call) {
	key := x.args[1]
	o, msg := parseRestoreOptions(x.args[4:])
	if msg != "" {
		x.Error(msg)
		return
	}
	old, ok := x.peek(key)
	if !ok {
		return
	}
	if old.Exists() && !o.replace {
		x.Error("BUSYKEY Target key name already exists.")
		return
	}
	ttl, ok := wire.ParseInt(x.args[2])
	switch {
	case !ok:
		x.Error(msgNotInteger)
		return
	case ttl < 0:
		x.Error("ERR Invalid TTL value, must be >= 0")
		return
	}
	value, err := rdb.DecodeWithin(x.args[3], x.limits.maxValue.Load(), x.needs)
	if err != nil {
		x.payloadError(err)
		return
	}
	expiry := ttl // in ms since 1970
	if ttl != 0 && !o.absolute {
		if ttl > math.MaxInt64-x.unit.Now() {
			x.Error(x.invalidExpire())
			return
		}
		expiry += x.unit.Now()
	}
	if expiry != 0 && expiry <= x.unit.Now() {
		if old.Exists() {
			x.unit.Delete(key, old)
			x.unit.Note(store.EventGeneric, "del", key)
		}
		x.OK()
		return
	}
	if err := x.restore(key, old, &value, expiry); err != nil {
		x.payloadError(err)
		return
	}
	x.replacedNew(key, old)
	x.unit.Note(store.EventGeneric, "restore", key)
	x.OK()
}

// restore makes what a payload holds the value of a key, which was old.
func (x *Call) restore(key []byte, old store.Value, value *rdb.Value, expiry int64) error {
	if value.Type == rdb.String {
		return x.unit.PutString(key, old, value.Bytes, expiry, false)
	}
	if value.Type == rdb.List {
		l := &x.list
		l.MaxPacked = int(x.limits.packed.Load())
		l.Over(x.unit, key, old)
		if err := l.Restore(value); err != nil {
			return err
		}
		x.unit.SetExpiry(key, *l.Value(), expiry)
		return nil
	}
	if value.Type == rdb.Stream {
		return x.restoreStream(key, old, value, expiry)
	}
	if value.Type == rdb.SortedSet {
		return x.restoreZSet(key, old, value, expiry)
	}
	t, typ, most, isLarge := &x.table, store.Hash, int64(compactFields), isLargeField
	if value.Type == rdb.Set {
		typ, most, isLarge = store.Set, compactMembers, isLargeMember
	}
	longest, large := int(x.limits.maxKey.Load()), false
	t.MaxPacked = int(x.limits.packed.Load())
	t.Over(x.unit, key, typ, old)
	err := t.Restore(value, func(field, value []byte) error {
		if len(field) > longest {
			return replyError(msgFieldTooLong)
		}
		large = large || isLarge(field, value)
		return nil
	})
	if err != nil {
		return err
	}
	if large || t.Len() > most {
		t.MarkLarge()
	}
	x.unit.SetExpiry(key, *t.Value(), expiry)
	return nil
}

func (x *Call) restoreStream(key []byte, old store.Value, value *rdb.Value, expiry int64) error {
	longest := int(x.limits.maxKey.Load())
	s := &x.stream
	s.Over(x.unit, key, old)
	err := s.Restore(value, func(name []byte) error {
		if len(name) > longest {
			return replyError(msgNameTooLong)
		}
		return nil
	})
	if err == nil {
		x.unit.SetExpiry(key, *s.Value(), expiry)
	}
	return err
}

// parseRestoreOptions returns an error reply, or "".
func parseRestoreOptions(args [][]byte) (o restoreOptions, msg string) {
	idle, freq := false, false
	for ; len(args) > 0; args = args[1:] {
		limit := int64(math.MaxInt64)
		switch {
		case wire.EqualFold(args[0], "replace"):
			o.replace = true
			continue
		case wire.EqualFold(args[0], "absttl"):
			o.absolute = true
			continue
		case wire.EqualFold(args[0], "idletime") && len(args) > 1 && !freq:
			idle, msg = true, "ERR Invalid IDLETIME value, must be >= 0"
		case wire.EqualFold(args[0], "freq") && len(args) > 1 && !idle:
			freq, msg = true, "ERR Invalid FREQ value, must be >= 0 and <= 255"
			limit = 255
		default:
			return o, msgSyntax
		}
		n, ok := wire.ParseInt(args[1])
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

// payloadError replies with an error of reading a payload, or of storing what is in it.
func (x *Call) payloadError(err error) {
	x.limited = errors.Is(err, rdb.ErrMemory)
	x.Error(payloadErrorText(err))
}

// payloadErrorText turns an error of reading a payload, or of storing what is in it, into a
// reply.
func payloadErrorText(err error) string {
	switch {
	case errors.Is(err, rdb.ErrPayload):
		return "ERR DUMP payload version or checksum are wrong"
	case errors.Is(err, rdb.ErrFormat), errors.Is(err, collection.ErrDuplicate):
		return "ERR Bad data format"
	case errors.Is(err, rdb.ErrMemory):
		return msgNoMemory
	case errors.Is(err, rdb.ErrTooLarge):
		return msgTooLong
	case errors.Is(err, rdb.ErrType):
		return "ERR RESTORE: " + err.Error()
	}
	return errorText(err)
}
