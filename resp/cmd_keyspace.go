package resp

import (
	"math"

	"github.com/ringside-kv/ringside/internal/database"
	"github.com/ringside-kv/ringside/resp/internal/keyspace"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
	"github.com/ringside-kv/ringside/store"
)

// The commands on all keys. On a forward connection they cover the cluster: each node
// does its part, see [call.scatter].

func cmdDbsize(x *call) {
	if x.spreads() {
		if replies, ok := x.scatter(x.srv.forwardTimeout(), []byte("DBSIZE")); ok {
			x.Int(wire.SumInts(replies))
		}
		return
	}
	n := int64(0)
	if x.InScript {
		n = x.Unit.NewKeys(x.database())
	}
	own, err := ownKeys(x, x.database())
	if err != nil {
		x.Fail(err)
		return
	}
	if x.awaitSeen(len(x.Buf)) {
		x.Int(n + own)
	}
}

// ownKeys returns the number of keys of a database that this node serves.
func ownKeys(x *call, number int) (n int64, err error) {
	err = x.own(func(spans []ring.Range) error {
		n = 0
		for _, span := range spans {
			load, err := x.srv.store.DatabaseLoad(number, span)
			if err != nil {
				return err
			}
			n += load.Keys
		}
		return nil
	})
	return n, err
}

// cmdRandomkey draws a node by its number of keys, and there a key. Another node is
// answered with the number and the key.
func cmdRandomkey(x *call) {
	if x.spreads() {
		if replies, ok := x.scatter(x.srv.forwardTimeout(), []byte("RANDOMKEY")); ok {
			if key := keyspace.Draw(replies); key != nil {
				x.Bulk(key)
			} else {
				x.Null()
			}
		}
		return
	}
	var key []byte
	var keys int64
	err := x.own(func(spans []ring.Range) (err error) {
		key, err = keyspace.DrawServed(x.allKeys(), x.database(), spans, x.srv.policies().Serves)
		for _, span := range spans { // by the store: this node may not know of the database yet
			if load, err := x.srv.store.DatabaseLoad(x.database(), span); err == nil {
				keys += load.Keys
			}
		}
		return err
	})
	at := len(x.Buf)
	switch {
	case err != nil:
		x.Fail(err)
		return
	case !x.awaitSeen(at):
		return
	case asksNode(x):
		x.Array(2)
		x.Int(max(keys, 1))
	}
	if key == nil {
		x.Null()
	} else {
		x.Bulk(database.Name(key))
	}
}

func cmdKeys(x *call) {
	if x.spreads() {
		before, at := x.srv.policies().OfDatabase(numberOf(x)), len(x.Buf)
		if before.Moving {
			listKeys(x)
			return
		}
		if replies, ok := x.scatter(longTimeout, []byte("KEYS"), x.Args[1]); ok {
			joinArrays(x, replies, math.MaxInt)
		}
		if x.srv.policies().Of(before.Number).Flips != before.Flips && !x.conn.closing { // keys have begun to move
			x.Buf = x.Buf[:at]
			listKeys(x)
		}
		return
	}
	l := x.newLister(x.Args[1], math.MaxInt)
	l.end(x.eachOwn(func(e store.Entry) bool { return !x.srv.policies().Serves(e.Key) || l.add(e.Key) }), nil)
}

// joinArrays replies with the elements of several arrays of bulk strings, so many at
// most.
func joinArrays(x *call, replies [][]byte, most int) {
	size := 0
	for _, reply := range replies {
		size += len(reply)
	}
	if int64(size) > x.srv.settings.OutputBuffer.Load() {
		x.RefuseByLimit(x.OverOutputBuffer())
		return
	}
	x.Writer.JoinArrays(replies, most)
}
