package keys

import (
	"encoding/binary"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/store/collection"
	"github.com/ringside-kv/ringside/store/rdb"
)

// Keys that move within their database: copies are no use of a key, and no client hears of them.

// FetchAll replies with an array of the expiry and the payload of each of some stored keys, null for one that is not
// there, until the reply has so many bytes.
func FetchAll(x *command.Call, stored [][]byte, enough int) {
	var body []byte
	n := 0
	for _, key := range stored {
		v, err := x.Unit.GetWhole(key)
		size := v.Size + dumpOverhead + v.Count*dumpElement
		switch {
		case err != nil:
		case !v.Exists():
			size = 0
		case len(stored) == 1 && x.RunApart(size):
			return
		case !x.TakeUpTo(int64(len(body)) + size):
			x.RefuseByLimit(command.MsgNoMemory)
			return
		}
		if n > 0 && len(body)+int(size) > enough {
			break
		}
		fetched := binary.LittleEndian.AppendUint64(nil, uint64(v.Expiry))
		if err == nil && v.Exists() {
			fetched, err = collection.AppendDumpAs(fetched, x.Unit, key, v, rdb.MaxVersion)
		}
		if err != nil {
			x.Fail(err)
			return
		}
		if n++; len(fetched) > expirySize {
			body = wire.AppendBulk(body, fetched)
		} else { // or the time of all fields of a hash has come
			body = append(body, "$-1\r\n"...)
		}
	}
	x.Array(n)
	x.Buf = append(x.Buf, body...)
}

// PlaceAll writes copies: for each key its expiry and payload, as FetchAll replies with them.
func PlaceAll(x *command.Call, words [][]byte) {
	defer x.Unit.SetReplacing(false)
	x.Unit.SetReplacing(true)
	for ; len(words) > 1; words = words[2:] {
		key, fetched := words[0], words[1]
		if len(fetched) <= expirySize {
			x.Error(command.MsgSyntax)
			return
		}
		expiry := int64(binary.LittleEndian.Uint64(fetched))
		old, err := x.Unit.Peek(key)
		if err != nil {
			x.Fail(err)
			return
		}
		value, err := rdb.DecodeWithin(fetched[expirySize:], x.Limits.MaxValue.Load(), x.TakeUpTo)
		if err == nil {
			err = restore(x, key, old, &value, expiry)
		}
		if err != nil {
			payloadError(x, err)
			return
		}
	}
	x.OK()
}

const expirySize = 8

// DropAll deletes keys.
func DropAll(x *command.Call, stored [][]byte) {
	for _, key := range stored {
		v, err := x.Unit.Peek(key)
		if err != nil {
			x.Fail(err)
			return
		}
		x.Unit.Delete(key, v)
	}
	x.OK()
}
