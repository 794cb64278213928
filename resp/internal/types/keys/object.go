package keys

import (
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/internal/types/lists"
	"github.com/ringside-kv/ringside/resp/internal/types/sets"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store"
)

// object looks at args[2] for a subcommand of OBJECT. It has replied, and returns
// false, if there is no such key.
func object(x *command.Call) (store.Value, bool) {
	v, ok := peek(x, x.Args[2])
	if ok && !v.Exists() {
		x.Null()
		return v, false
	}
	return v, ok
}

// maxEmbedded is the length of the longest string that Redis keeps in one piece
// with what it knows about it.
const maxEmbedded = 44

func cmdObjectEncoding(x *command.Call) {
	if v, ok := object(x); ok {
		if name := encodingOf(x, x.Args[2], v); name != "" {
			x.BulkString(name)
		}
	}
}

// encodingOf returns Redis' name for the form of a value. It has replied, and returns "", if the value cannot be read.
func encodingOf(x *command.Call, key []byte, v store.Value) string {
	switch {
	case v.FieldExpiry != 0 && !v.Raw:
		return "listpackex"
	case v.Type == store.Set:
		return sets.Encoding(x, key, v)
	case v.Type == store.List:
		return lists.Encoding(x, key, v)
	case v.Type != store.String:
		return encodings[v.Type][b2i(v.Raw)]
	case v.Raw || v.Size > maxEmbedded:
		return "raw"
	case command.IsInt(v.Inline):
		return "int"
	}
	return "embstr"
}

// encodings are Redis' names for the forms of a collection: the compact one, and the other.
var encodings = map[store.Type][2]string{
	store.Hash:   {"listpack", "hashtable"},
	store.Stream: {"stream", "stream"},
	store.ZSet:   {"listpack", "skiplist"},
	store.JSON:   {"raw", "raw"}, // as any value of a module
	store.Bloom:  {"raw", "raw"},
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func cmdObjectRefcount(x *command.Call) {
	if v, ok := object(x); ok {
		x.Int(refcountOf(v))
	}
}

// refcountOf returns how many references there are to a value: Redis shares the small integers, and shows that as the
// largest number.
func refcountOf(v store.Value) int64 {
	if n, ok := wire.ParseInt(v.Inline); ok && v.Type == store.String && !v.Raw && n >= 0 && n < 10_000 {
		return math.MaxInt32
	}
	return 1
}

func cmdObjectIdletime(x *command.Call) {
	switch _, ok := object(x); {
	case !ok:
	case x.Limits.CountsUses.Load():
		x.Error("ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	default:
		x.Int(x.Unit.IdleSeconds(x.Args[2]))
	}
}

func cmdObjectFreq(x *command.Call) {
	switch _, ok := object(x); {
	case !ok:
	case x.Limits.CountsUses.Load():
		x.Int(x.Unit.Frequency(x.Args[2]))
	default:
		x.Error("ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.")
	}
}

const (
	// keyOverhead is about what an entry costs beside its key and value: the
	// store's own key, header, counts and index.
	keyOverhead = 48
	// elementOverhead is that of an element that is an entry of its own, beside the key
	// once more.
	elementOverhead = 24
	// expiryOverhead is what an expiry adds to that, beside the key once more.
	expiryOverhead = 24
)

// MemoryUsage estimates the bytes that a key takes on disk before compression.
func MemoryUsage(x *command.Call) {
	key := x.Args[2]
	for args := x.Args[3:]; len(args) > 0; args = args[2:] {
		if !wire.EqualFold(args[0], "samples") || len(args) == 1 {
			x.Error(command.MsgSyntax)
			return
		}
		n, ok := wire.ParseInt(args[1])
		if !ok {
			x.Error(command.MsgNotInteger)
			return
		}
		if n < 0 {
			x.Error(command.MsgSyntax)
			return
		}
	}
	v, ok := object(x)
	if !ok {
		return
	}
	size := keyOverhead + int64(len(key)) + v.Size
	if !v.Whole() {
		size += v.Count * (elementOverhead + int64(len(key)))
	}
	if v.Expiry != 0 {
		size += expiryOverhead + int64(len(key))
	}
	x.Int(size)
}

func cmdObjectHelp(x *command.Call) {
	command.Help(x, "OBJECT",
		"ENCODING <key>",
		"    Name the way in which the value is stored.",
		"FREQ <key>",
		"    Tell how often the key is used, on a logarithmic scale.",
		"IDLETIME <key>",
		"    Tell for how many seconds the key has not been used.",
		"REFCOUNT <key>",
		"    Tell how many references the value has.",
	)
}
