package streams

import (
	"errors"
	"fmt"

	"github.com/ringside-kv/ringside/resp/internal/command"
	"github.com/ringside-kv/ringside/store/collection"
)

func cmdXreadgroup(x *command.Call) {
	r, msg := parseStreamRead(x, true)
	if msg != "" {
		x.Error(msg)
		return
	}
	if !nameFits(x, r.consumer) {
		return
	}
	reads := make([]groupRead, len(r.keys))
	for i := range reads {
		if !openGroupRead(x, &reads[i], r, i) {
			return
		}
	}
	at, n := len(x.Buf), 0
	for i := range reads {
		g := &reads[i]
		x.CountLookup(g.key, g.s.Value())
		err := g.reopen(x, i > 0, r.group)
		served := false
		if err == nil {
			served, err = g.serve(x, r)
		}
		if err != nil {
			x.Buf = x.Buf[:at]
			if errors.Is(err, errReplySize) {
				err = x.TooLarge()
			}
			x.FailPart(i > 0 || r.claims, err)
			return
		}
		if served {
			n++
		}
	}
	if n == 0 {
		if r.blocks {
			awaitNews(x, r)
		} else {
			x.NullArray()
		}
		return
	}
	insertStreams(x, at, n)
}

// A groupRead is one stream of an XREADGROUP.
type groupRead struct {
	key     []byte
	s       collection.Stream
	g       *collection.Group
	after   collection.ID
	history bool // of the consumer, instead of what nobody was given
}

// openGroupRead finds the group of the i-th stream. It has replied, and returns false, if
// there is none, or no ID.
func openGroupRead(x *command.Call, g *groupRead, r *streamRead, i int) (ok bool) {
	g.key = r.keys[i]
	if !openStream(x, &g.s, g.key) {
		return false
	}
	x.CountLookup(g.key, g.s.Value())
	var err error
	if g.g, err = g.s.Group(r.group); err != nil {
		x.Fail(err)
		return false
	}
	if g.g == nil {
		x.Error(missingGroup(g.key, r.group))
		return false
	}
	switch word := string(r.ids[i]); word {
	case "$":
		x.Error("ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set.")
		return false
	case "+":
		x.Error("ERR The + ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying a proper ID, or use the > ID to get new messages. The + ID would just return an empty result set.")
		return false
	case ">":
	default:
		if g.after, ok = parseStreamID(r.ids[i], 0); !ok {
			x.Error(msgStreamID)
			return false
		}
		g.history = g.after != collection.MaxID // which Redis takes for ">"
	}
	return true
}

// missingGroup is the error of XREADGROUP where there is no such group. One that waits gets it when the stream or the
// group goes.
func missingGroup(key, group []byte) string {
	return fmt.Sprintf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with GROUP option", shownKey(key), whole(group))
}

// reopen reads the group once more where another read of the command may have changed it.
func (g *groupRead) reopen(x *command.Call, again bool, name []byte) (err error) {
	if !again {
		return nil
	}
	if err = g.s.Open(x.Unit, g.key); err == nil {
		g.g, err = g.s.Group(name)
	}
	return err
}

// serve replies with the stream's name and entries. It is not served if there is nothing new.
func (g *groupRead) serve(x *command.Call, r *streamRead) (served bool, err error) {
	at := len(x.Buf)
	var ids []collection.ID
	if r.claims && !g.history {
		return g.serveClaiming(x, r)
	}
	if !g.history {
		from, ok := g.g.Last.Next()
		if !ok || g.s.Len() == 0 || from.Compare(g.s.Last) > 0 {
			return false, g.polled(x, r)
		}
		streamName(x, g.key)
		n, err := entriesIn(x, &g.s, from, collection.MaxID, r.count, false, func(id collection.ID) { ids = append(ids, id) })
		if err != nil || n == 0 {
			if x.Buf = x.Buf[:at]; err == nil {
				err = g.polled(x, r)
			}
			return false, err
		}
	}
	c, err := consumer(x, g.g, g.key, r.consumer)
	if err != nil {
		return false, err
	}
	if g.history {
		streamName(x, g.key)
		err = g.replay(x, c, r.count)
	} else {
		err = g.deliver(x, c, ids, r.noAck)
	}
	if err == nil {
		g.g.Save()
	}
	return true, err
}

// polled notes that the consumer has asked, and got nothing.
func (g *groupRead) polled(x *command.Call, r *streamRead) error {
	err := polled(x, g.g, g.key, r.consumer)
	if err == nil {
		g.g.Save()
	}
	return err
}

// deliver notes that entries were delivered to a consumer.
func (g *groupRead) deliver(x *command.Call, c *collection.Consumer, ids []collection.ID, noAck bool) error {
	for _, id := range ids {
		g.g.Advance(id)
		if noAck {
			continue
		}
		old, err := g.g.Find(id) // if the group was set back
		if err != nil {
			return err
		}
		p := collection.Pending{ID: id, Time: x.Unit.Now(), Count: 1, Consumer: c.Name}
		if err := g.g.Put(&p, old); err != nil {
			return err
		}
		c.Act(p.Time)
	}
	return nil
}

// replay replies with what is pending with the consumer behind an ID, and counts it as
// delivered once more.
func (g *groupRead) replay(x *command.Call, c *collection.Consumer, count int64) error {
	at, n := len(x.Buf), int64(0)
	from, _ := g.after.Next()
	var delivered []collection.ID
	var failure error
	err := g.g.EachOwned(c, from, collection.MaxID, func(id collection.ID) bool {
		var found bool
		if found, failure = entryOrNull(x, &g.s, id); found {
			delivered = append(delivered, id)
		}
		if n++; failure == nil && !mayGrow(x) {
			failure = errReplySize
		}
		return failure == nil && n != count
	})
	if err = errors.Join(failure, err); err != nil {
		return err
	}
	insertLength(x.Writer, at, '*', int(n))
	for _, id := range delivered {
		p, err := g.g.Find(id)
		if err != nil || p == nil {
			return errors.Join(errNotPending, err)
		}
		old := *p
		p.Time = x.Unit.Now()
		p.CountDelivery()
		if err := g.g.Put(p, &old); err != nil {
			return err
		}
	}
	return nil
}

// entryOrNull replies with an entry, without fields if it was removed.
func entryOrNull(x *command.Call, s *collection.Stream, id collection.ID) (found bool, err error) {
	fields, found, err := s.Get(id)
	if err != nil {
		return false, err
	}
	if found {
		return true, entry(x.Writer, id, fields)
	}
	x.Array(2)
	streamID(x.Writer, id)
	x.NullArray()
	return false, nil
}

// errNotPending is a broken invariant of what is stored: a consumer has what its group does
// not know of.
var errNotPending = errors.New("a consumer has an entry that is not pending")
