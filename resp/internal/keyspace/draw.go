package keyspace

import (
	"bytes"
	"math"
	"math/rand/v2"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// maxDraws is how many random keys [DrawServed] takes before it scans.
const maxDraws = 64

// Stored are the keys of a node.
type Stored interface {
	ScanIn(span ring.Range, from store.Cursor, count int, visit func(store.Entry) bool) (next store.Cursor, ended bool, err error)
	RandomKeyIn(database int, spans []ring.Range) ([]byte, error)
}

// DrawServed returns a random stored key of a database that is served, or nil if the spans hold none. While keys of
// the database move, a key may have two copies, one of which is not served: where nearly all copies are such ones, as
// after FLUSHDB, it returns the first key of a scan that is served.
func DrawServed(keys Stored, number int, spans []ring.Range, served func(key []byte) bool) (key []byte, err error) {
	for range maxDraws {
		if key, err = keys.RandomKeyIn(number, spans); err != nil || key == nil || served(key) {
			return key, err
		}
	}
	key = nil
	for _, span := range spans {
		_, _, err = keys.ScanIn(span, store.CursorAt(span.Start), math.MaxInt, func(e store.Entry) bool {
			if database.Of(e.Key) == number && served(e.Key) {
				key = bytes.Clone(e.Key)
			}
			return key == nil
		})
		if err != nil || key != nil {
			return key, err
		}
	}
	return nil, nil
}

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
