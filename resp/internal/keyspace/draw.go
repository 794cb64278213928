package keyspace

import (
	"math/rand/v2"

	"github.com/ringside-kv/ringside/resp/wire"
)

// Draw picks one of the keys in the replies to RANDOMKEY.
func Draw(replies [][]byte) (key []byte) {
	total := int64(0)
	for _, reply := range replies {
		elements, ok := wire.ArrayBody(reply)
		if !ok {
			continue
		}
		n := wire.ValueLen(elements)
		weight := wire.SumInts([][]byte{elements[:n]})
		this, ok := wire.ReplyText(elements[n:])
		if !ok {
			continue
		}
		if total += weight; rand.Int64N(total) < weight {
			key = this
		}
	}
	return key
}
