package keys

import (
	"fmt"
	"math"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/rdb"
)

// DebugObject is RING DEBUG OBJECT key, which DEBUG OBJECT key becomes. It is no use of the key, and costs the same for values of any size: only values
// that are one entry of the store are serialized.
func DebugObject(x *command.Call) {
	key := x.Args[3]
	v, err := x.Unit.Peek(key)
	switch {
	case err != nil:
		x.Fail(err)
		return
	case !v.Exists():
		x.Error(command.MsgNoKey)
		return
	}
	encoding := encodingOf(x, key, v)
	if encoding == "" {
		return
	}
	size := estimatedLength(v)
	if v.Whole() {
		if !x.TakeUpTo(v.Size + dumpOverhead) {
			x.RefuseByLimit(command.MsgNoMemory)
			return
		}
		payload, err := collection.AppendDump(nil, x.Unit, key, v)
		switch {
		case err != nil:
			x.Fail(err)
			return
		case len(payload) == 0: // a hash of which all fields have expired
			x.Error(command.MsgNoKey)
			return
		}
		size = int64(len(payload) - rdb.FrameLen)
	}
	idle := x.Unit.IdleSeconds(key)
	text := fmt.Sprintf("Value at:0x%x refcount:%d encoding:%s serializedlength:%d lru:%d lru_seconds_idle:%d",
		x.Unit.Place(key).Token(), refcountOf(v), encoding, size, usageWord(x, key, idle), idle)
	if encoding == "quicklist" {
		text += nodesOf(x, key, v)
	}
	x.Simple(text)
}

// usageWord returns what Redis keeps of the use of a key, 24 bits: when it was used last, in seconds, or, where uses are
// counted, the minute of the last use and how often the key is used.
func usageWord(x *command.Call, key []byte, idle int64) int64 {
	last := x.Unit.Now()/1000 - idle
	if x.Limits.CountsUses.Load() {
		return last/60&math.MaxUint16<<8 | x.Unit.Frequency(key)
	}
	return last & (1<<24 - 1)
}

// nodesOf describes the nodes of a list that is no listpack to Redis: entries of the store, of which each holds one
// element, a chunk of them, or all. It takes all elements of a list with chunks for short ones.
func nodesOf(x *command.Call, key []byte, v store.Value) string {
	nodes, elements := v.Count, v.Count
	switch {
	case v.Whole():
		x.List.Over(x.Unit, key, v)
		nodes, elements = 1, x.List.Len()
	case v.Chunks:
		nodes = (v.Count + store.ChunkItems - 1) / store.ChunkItems
	}
	return fmt.Sprintf(" ql_nodes:%d ql_avg_node:%.2f ql_listpack_max:%d ql_compressed:0 ql_uncompressed_size:%d",
		nodes, float64(elements)/float64(max(nodes, 1)), x.Limits.Encodings.ListSize.Load(), v.Size)
}

// estimatedLength estimates the bytes of a value in a payload of DUMP, without compression: those of its elements, and
// lengths before them.
func estimatedLength(v store.Value) int64 {
	if v.Type.IsBytes() || v.Count == 0 {
		return lengthSize(v.Size) + v.Size
	}
	average := v.Size / v.Count
	each := lengthSize(average)
	if v.Type == store.Hash {
		each = 2 * lengthSize(average/2)
	}
	if v.FieldExpiry != 0 {
		each++ // of a field without an expiry time, too
	}
	return lengthSize(v.Count) + v.Size + v.Count*each
}

// lengthSize returns the bytes of a length in a payload.
func lengthSize(n int64) int64 {
	switch {
	case n < 1<<6:
		return 1
	case n < 1<<14:
		return 2
	case n <= math.MaxUint32:
		return 5
	}
	return 9
}
