package streams

import (
	"bytes"
	"errors"
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
	newest := make([]bool, len(r.ids)) // the newest entry is wanted, whenever it came
	for i, word := range r.ids {
		newest[i] = string(word) == "+"
	}
	x.Host.Block(command.Want{
		Timeout: time.Duration(r.timeout) * time.Millisecond, Keys: r.keys, Type: store.Stream, Memo: memo,
		Ready: func(x *command.Call, key []byte) bool {
			if !openStream(x, &x.Stream, key) {
				return false
			}
			for i := range r.keys {
				if string(r.keys[i]) == string(key) && (newest[i] && x.Stream.Len() > 0 || hasBehind(x, &x.Stream, key, after[i])) {
					return true
				}
			}
			return false
		},
		Serve: func(x *command.Call, key []byte) {
			n := 0
			for i, k := range r.keys {
				served, err := serveEntries(x, k, string(k) == string(key), after[i], newest[i], r.count)
				if err != nil {
					endReply(x, err)
					return
				}
				if served {
					n++
				}
			}
			insertStreams(x, 0, n)
			endReply(x, nil)
		},
	})
}

// serveEntries is readStream for a command that has waited: for the stream that has got something, or one that the unit
// may have written, too. The newest entry is to be read if newest is true.
func serveEntries(x *command.Call, key []byte, got bool, after collection.ID, newest bool, count int64) (served bool, err error) {
	if !got && !x.HoldsLatch(key) {
		return false, nil
	}
	s := &x.Stream
	if err = s.Open(x.Unit, key); errors.Is(err, collection.ErrType) && !got {
		return false, nil
	}
	if err == nil && newest {
		after, err = beforeNewest(x, s, key)
	}
	if err != nil {
		return false, err
	}
	return readStream(x, key, after, count)
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
			reads := make([]*groupRead, 0, len(r.keys))
			for _, k := range r.keys {
				if string(k) != string(key) && !x.HoldsLatch(k) {
					continue
				}
				g, err := open(x, k)
				switch {
				case errors.Is(err, collection.ErrType):
					x.Error(command.MsgWrongType)
				case err != nil:
					x.Abort(err)
				case g.g == nil:
					x.Error(missingGroup(k, r.group))
				default:
					reads = append(reads, g)
					continue
				}
				return
			}
			n := 0
			for i, g := range reads {
				err := g.reopen(x, i > 0, r.group)
				served := false
				if err == nil {
					served, err = g.serve(x, r)
				}
				if err != nil {
					x.Buf = x.Buf[:0]
					x.Abort(err)
					return
				}
				if served {
					n++
				}
			}
			if n > 0 {
				insertStreams(x, 0, n)
			} else { // what was ready is not
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
