package resp

import (
	"bytes"
	"time"

	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// XREAD and XREADGROUP that wait.

// awaitEntries waits for an entry behind an ID in one of some streams.
func (x *Call) awaitEntries(r *streamRead, after []collection.ID) {
	var memo []byte
	for _, id := range after {
		memo, _ = id.AppendText(memo)
		memo = append(memo, ' ')
	}
	x.host.block(want{
		timeout: time.Duration(r.timeout) * time.Millisecond, keys: r.keys, typ: store.Stream, memo: memo,
		ready: func(x *Call, key []byte) bool {
			return x.openStream(&x.stream, key) && x.hasBehind(&x.stream, key, after[indexOf(r.keys, key)])
		},
		serve: func(x *Call, key []byte) {
			_, err := x.readStream(key, after[indexOf(r.keys, key)], r.count)
			if err == nil {
				x.insertStreams(0, 1)
			}
			x.endReply(err)
		},
	})
}

// remembered is what "$" meant for the i-th stream when the command began to wait.
func (x *Call) remembered(i int) (id collection.ID, ok bool) {
	words := bytes.Fields(x.host.memo())
	if i >= len(words) {
		return id, false
	}
	return parseStreamID(words[i], 0)
}

// hasBehind tells whether an open stream has an entry behind an ID.
func (x *Call) hasBehind(s *collection.Stream, key []byte, after collection.ID) bool {
	from, ok := after.Next()
	if !ok || s.Len() == 0 || from.Compare(s.Last) > 0 || s.OpenWhole(x.unit, key) != nil {
		return false
	}
	found := false
	err := s.Range(from, collection.MaxID, false, func(collection.ID, collection.Fields) bool {
		found = true
		return false
	})
	return found && err == nil
}

func indexOf(keys [][]byte, key []byte) int {
	for i := range keys {
		if string(keys[i]) == string(key) {
			return i
		}
	}
	return 0
}

const (
	msgGroupGone  = "NOGROUP the consumer group this client was blocked on no longer exists"
	msgStreamGone = "UNBLOCKED the stream key no longer exists"
)

// awaitNews waits for an entry that a group was not given yet in one of some streams.
func (x *Call) awaitNews(r *streamRead) {
	open := func(x *Call, key []byte) (*groupRead, error) {
		g := &groupRead{key: key}
		err := g.reopen(x, true, r.group)
		return g, err
	}
	x.host.block(want{
		timeout: time.Duration(r.timeout) * time.Millisecond, keys: r.keys, typ: store.Stream,
		ready: func(x *Call, key []byte) bool {
			g, err := open(x, key)
			return err == nil && (g.g == nil || x.hasBehind(&g.s, key, g.g.Last))
		},
		serve: func(x *Call, key []byte) {
			g, err := open(x, key)
			if err == nil && g.g == nil {
				x.Error(msgGroupGone)
				return
			}
			if err == nil {
				_, err = g.serve(x, r)
			}
			if err != nil {
				x.Buf = x.Buf[:0]
				x.abort(err)
				return
			}
			x.insertStreams(0, 1)
		},
		gone: func(x *Call, _ []byte) { x.Error(msgStreamGone) },
	})
}
