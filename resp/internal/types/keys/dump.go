package keys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/bloom"
	"github.com/ringside-kv/ringside/resp/internal/types/hashes"
	"github.com/ringside-kv/ringside/resp/internal/types/json"
	"github.com/ringside-kv/ringside/resp/internal/types/json/document"
	"github.com/ringside-kv/ringside/resp/internal/types/lists"
	"github.com/ringside-kv/ringside/resp/internal/types/sets"
	"github.com/ringside-kv/ringside/resp/internal/types/strings"
	"github.com/ringside-kv/ringside/resp/internal/types/zsets"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
	filter "github.com/ringside-kv/ringside/store/bloom"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/rdb"
)

const (
	// dumpOverhead is the most that a payload and its reply add to a value,
	dumpOverhead = 64
	// and dumpElement to an element of it, with its value.
	dumpElement = 10
)

// Value is RING VALUE key version, which returns what a replica of Redis gets of a key: 8 bytes with its expiry time, in
// ms since 1970 and little-endian, 0 for never, and a payload of RESTORE in an RDB version. It is no use of the key.
func Value(x *command.Call) {
	key := x.Args[2]
	version, ok := wire.ParseInt(x.Args[3])
	if !ok || version < rdb.OldestVersion || version > rdb.ValkeyVersion {
		x.Error(command.MsgNotInteger)
		return
	}
	v, err := x.Unit.GetWhole(key)
	switch {
	case err != nil:
		x.Fail(err)
		return
	case !v.Exists():
		x.Null()
		return
	case x.RunApart(v.Size + dumpOverhead + v.Count*dumpElement):
		return
	case !x.TakeUpTo(v.Size + dumpOverhead + v.Count*dumpElement):
		x.RefuseByLimit(command.MsgNoMemory)
		return
	}
	head := binary.LittleEndian.AppendUint64(nil, uint64(v.Expiry))
	reply, err := collection.AppendDumpWithin(head, x.Unit, key, v, int(version))
	switch {
	case errors.Is(err, rdb.ErrVersion):
		x.Error("NOVERSION " + err.Error())
	case err != nil:
		x.Fail(err)
	case len(reply) == len(head):
		x.Null()
	default:
		x.Bulk(reply)
	}
}

// cmdDump neither reads nor compresses a large value while latches are held.
func cmdDump(x *command.Call) {
	key := x.Args[1]
	v, err := x.Unit.GetWhole(key)
	if err != nil {
		x.Fail(err)
		return
	}
	x.CountRead(key, &v)
	if !v.Exists() {
		x.Null()
		return
	}
	if x.RunApart(v.Size + dumpOverhead + v.Count*dumpElement) {
		return
	}
	if !x.TakeUpTo(v.Size + dumpOverhead + v.Count*dumpElement) {
		x.RefuseByLimit(command.MsgNoMemory)
		return
	}
	var payload []byte
	version := int(x.Limits.DumpVersion.Load())
	if version == 0 {
		payload, err = collection.AppendDump(nil, x.Unit, key, v)
	} else {
		payload, err = collection.AppendDumpAs(nil, x.Unit, key, v, version)
	}
	if errors.Is(err, rdb.ErrVersion) {
		x.Error(fmt.Sprintf("ERR %v; dump-rdb-version is %d", err, version))
		return
	}
	if err != nil {
		x.Fail(err)
		return
	}
	if len(payload) == 0 {
		x.Null()
		return
	}
	x.Bulk(payload)
}

// restoreOptions are the options of RESTORE.
type restoreOptions struct {
	replace, absolute bool
	// idle and frequency say how the key was used; -1: as any new key. idle is in seconds.
	idle, frequency int64
}

// maxIdle bounds IDLETIME, in seconds: 68 years.
const maxIdle = math.MaxInt32

// Restore is RESTORE and RESTORE-ASKING.
func Restore(x *command.Call) {
	key := x.Args[1]
	o, msg := parseRestoreOptions(x.Args[4:])
	if msg != "" {
		x.Error(msg)
		return
	}
	old, ok := peek(x, key)
	if !ok {
		return
	}
	if old.Exists() && !o.replace {
		x.Error("BUSYKEY Target key name already exists.")
		return
	}
	ttl, ok := wire.ParseInt(x.Args[2])
	switch {
	case !ok:
		x.Error(command.MsgNotInteger)
		return
	case ttl < 0:
		x.Error("ERR Invalid TTL value, must be >= 0")
		return
	}
	value, err := rdb.DecodeWithin(x.Args[3], x.Limits.MaxValue.Load(), x.TakeUpTo)
	if err != nil {
		payloadError(x, err)
		return
	}
	expiry := ttl // in ms since 1970
	if ttl != 0 && !o.absolute {
		if ttl > math.MaxInt64-x.Unit.Now() {
			x.Error(strings.InvalidExpire(x))
			return
		}
		expiry += x.Unit.Now()
	}
	if expiry != 0 && expiry <= x.Unit.Now() {
		if old.Exists() {
			x.Unit.Delete(key, old)
			x.Unit.Note(store.EventGeneric, "del", key)
		}
		x.OK()
		return
	}
	if err := restore(x, key, old, &value, expiry); err != nil {
		payloadError(x, err)
		return
	}
	replacedNew(x, key, old)
	x.Unit.Note(store.EventGeneric, "restore", key)
	// As in Redis, only the one counts by which keys are evicted.
	if counts := x.Limits.CountsUses.Load(); counts && o.frequency >= 0 {
		x.Unit.SetUsage(x.Unit.Place(key), key, store.Usage{Frequency: uint8(o.frequency)})
	} else if !counts && o.idle >= 0 {
		x.Unit.SetUsage(x.Unit.Place(key), key, store.Usage{Idle: uint32(min(o.idle, maxIdle)), Frequency: store.FirstFrequency})
	}
	x.OK()
}

// restore makes what a payload holds the value of a key, which was old.
func restore(x *command.Call, key []byte, old store.Value, value *rdb.Value, expiry int64) error {
	if value.Type == rdb.String {
		return x.Unit.PutString(key, old, value.Bytes, expiry, false)
	}
	if value.Type == rdb.JSON {
		return json.Restore(x, key, old, value.Bytes, expiry)
	}
	if value.Type == rdb.Bloom {
		return bloom.Restore(x, key, old, value, expiry)
	}
	if value.Type == rdb.List {
		l := &x.List
		lists.Limit(x, l)
		l.Over(x.Unit, key, old)
		if err := l.Restore(value); err != nil {
			return err
		}
		l.SetLarge(lists.IsLargeWith(x, l))
		x.Unit.SetExpiry(key, *l.Value(), expiry)
		return nil
	}
	if value.Type == rdb.Stream {
		return restoreStream(x, key, old, value, expiry)
	}
	if value.Type == rdb.SortedSet {
		return zsets.RestoreZSet(x, key, old, value, expiry)
	}
	t, typ := &x.Table, store.Hash
	if value.Type == rdb.Set {
		typ = store.Set
	}
	longest, large, words := int(x.Limits.MaxKey.Load()), false, false
	t.MaxPacked = int(x.Limits.Packed.Load())
	t.Over(x.Unit, key, typ, old)
	err := t.Restore(value, func(field, value []byte) error {
		if len(field) > longest {
			return command.ReplyError(command.MsgFieldTooLong)
		}
		if typ == store.Set {
			large, words = large || sets.IsLongMember(x, field), words || !command.IsInt(field)
		} else {
			large = large || hashes.IsLargeField(x, field, value)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if typ == store.Set {
		large = large || sets.IsLarge(x, t.Len(), words)
	} else {
		large = large || t.Len() > x.Limits.Encodings.HashEntries.Load()
	}
	if large {
		t.MarkLarge()
	}
	x.Unit.SetExpiry(key, *t.Value(), expiry)
	return nil
}

func restoreStream(x *command.Call, key []byte, old store.Value, value *rdb.Value, expiry int64) error {
	longest := int(x.Limits.MaxKey.Load())
	s := &x.Stream
	s.Over(x.Unit, key, old)
	err := s.Restore(value, func(name []byte) error {
		if len(name) > longest {
			return command.ReplyError(command.MsgNameTooLong)
		}
		return nil
	})
	if err == nil {
		x.Unit.SetExpiry(key, *s.Value(), expiry)
	}
	return err
}

// parseRestoreOptions returns an error reply, or "".
func parseRestoreOptions(args [][]byte) (o restoreOptions, msg string) {
	o.idle, o.frequency = -1, -1
	for ; len(args) > 0; args = args[1:] {
		var to *int64
		limit := int64(math.MaxInt64)
		switch {
		case wire.EqualFold(args[0], "replace"):
			o.replace = true
			continue
		case wire.EqualFold(args[0], "absttl"):
			o.absolute = true
			continue
		case wire.EqualFold(args[0], "idletime") && len(args) > 1 && o.frequency < 0:
			to, msg = &o.idle, "ERR Invalid IDLETIME value, must be >= 0"
		case wire.EqualFold(args[0], "freq") && len(args) > 1 && o.idle < 0:
			to, msg = &o.frequency, "ERR Invalid FREQ value, must be >= 0 and <= 255"
			limit = 255
		default:
			return o, command.MsgSyntax
		}
		n, ok := wire.ParseInt(args[1])
		if !ok {
			return o, command.MsgNotInteger
		}
		if n < 0 || n > limit {
			return o, msg
		}
		*to = n
		args = args[1:]
	}
	return o, ""
}

// payloadError replies with an error of reading a payload, or of storing what is in it.
func payloadError(x *command.Call, err error) {
	x.RefusedByLimit = errors.Is(err, rdb.ErrMemory) || errors.Is(err, document.ErrMemory)
	x.Error(payloadErrorText(err))
}

// payloadErrorText turns an error of reading a payload, or of storing what is in it, into a
// reply.
func payloadErrorText(err error) string {
	var syntax *document.SyntaxError
	switch {
	case errors.Is(err, rdb.ErrPayload):
		return "ERR DUMP payload version or checksum are wrong"
	case errors.Is(err, rdb.ErrFormat), errors.Is(err, collection.ErrDuplicate), errors.Is(err, document.ErrUTF8), errors.As(err, &syntax):
		return "ERR Bad data format"
	case errors.Is(err, rdb.ErrMemory), errors.Is(err, document.ErrMemory):
		return command.MsgNoMemory
	case errors.Is(err, rdb.ErrTooLarge), errors.Is(err, document.ErrTooLarge), errors.Is(err, filter.ErrTooLarge):
		return command.MsgTooLong
	case errors.Is(err, rdb.ErrType):
		return "ERR RESTORE: " + err.Error()
	}
	return command.ErrorText(err)
}
