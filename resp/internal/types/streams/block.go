package streams

import (
	"bytes"
	"time"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store"
	"github.com/ringside-kv/ringside/store/collection"
)

// XREAD and XREADGROUP that wait.

// awaitEntries waits for an entry behind an ID in one of some streams.
func awaitEntries(x *command.Call, r *streamRead, after []collection.ID) {
	var memo []byte
	for _, id := range after {
		memo, _ = id.AppendText(memo)
		memo = append(memo, ' ')
	}
	x.Host.Block(command.Want{
		Timeout: time.Duration(r.timeout) * time.Millisecond, Keys: r.keys, Type: store.Stream, Memo: memo,
		Ready: func(x *command.Call, key []byte) bool {
			return openStream(x, &x.Stream, key) && hasBehind(x, &x.Stream, key, after[indexOf(r.keys, key)])
		},
		Serve: func(x *command.Call, key []byte) {
			_, err := readStream(x, key, after[indexOf(r.keys, key)], r.count)
			if err == nil {
				insertStreams(x, 0, 1)
			}
			endReply(x, err)
		},
	})
}

// remembered is what "$" meant for the i-th stream when the command began to wait.
func remembered(x *command.Call, i int) (id collection.ID, ok bool) {
	words := bytes.Fields(x.Host.Memo())
	if i >= len(words) {
		return id, false
	}
	return parseStreamID(words[i], 0)
}

// hasBehind tells whether an open stream has an entry behind an ID.
func hasBehind(x *command.Call, s *collection.Stream, key []byte, after collection.ID) bool {
	from, ok := after.Next()
	if !ok || s.Len() == 0 || from.Compare(s.Last) > 0 || s.OpenWhole(x.Unit, key) != nil {
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

// awaitNews waits for an entry that a group was not given yet in one of some streams, or with CLAIM for
// one that has been pending for long enough.
func awaitNews(x *command.Call, r *streamRead) {
	open := func(x *command.Call, key []byte) (*groupRead, error) {
		g := &groupRead{key: key}
		err := g.reopen(x, true, r.group)
		return g, err
	}
	var alarm *command.Alarm
	if r.claims {
		alarm = &command.Alarm{}
		for _, key := range r.keys {
			if g, err := open(x, key); err == nil && g.g != nil {
				g.claimable(x, r, alarm)
			}
		}
	}
	x.Host.Block(command.Want{
		Timeout: time.Duration(r.timeout) * time.Millisecond, Keys: r.keys, Type: store.Stream, Alarm: alarm,
		Ready: func(x *command.Call, key []byte) bool {
			g, err := open(x, key)
			return err == nil && (g.g == nil || g.claimable(x, r, alarm) || hasBehind(x, &g.s, key, g.g.Last))
		},
		Serve: func(x *command.Call, key []byte) {
			g, err := open(x, key)
			if err == nil && g.g == nil {
				x.Error(missingGroup(key, r.group))
				return
			}
			served := false
			if err == nil {
				served, err = g.serve(x, r)
			}
			switch {
			case err != nil:
				x.Buf = x.Buf[:0]
				x.Abort(err)
			case served:
				insertStreams(x, 0, 1)
			default: // what was ready is not
				x.NullArray()
			}
		},
		Gone: func(key []byte, exists bool) string {
			if exists {
				return command.MsgWrongType
			}
			return missingGroup(key, r.group)
		},
	})
}
