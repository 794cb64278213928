package resp

import (
	"github.com/ringside-kv/ringside/resp/internal/listening"
	"github.com/ringside-kv/ringside/resp/internal/placement"
	"github.com/ringside-kv/ringside/resp/wire"
	"github.com/ringside-kv/ringside/ring"
)

// placementChannel is the channel of the messages about the placement.
const placementChannel = "__placement__"

// watchers are the clients that are told of every change of the placement: HASHMASK
// SUBSCRIBE.
type watchers struct{ listening.Set[*conn] }

func (w *watchers) add(c *conn) {
	w.Add(c)
	c.session.watching.Store(true)
	if c.closed.Load() {
		w.remove(c)
	}
}

// remove reports whether the client was one of them.
func (w *watchers) remove(c *conn) bool {
	if !w.Remove(c) {
		return false
	}
	c.session.watching.Store(false)
	return true
}

// tell pushes what is new in the later routes. It does not wait. Its caller sees to it
// that changes come in order.
func (w *watchers) tell(old, now *Routes) {
	if !w.Any() {
		return
	}
	var before *ring.Placement
	if old != nil {
		before = old.Placement
	}
	text := placement.Changes(before, now.Placement)
	if text == "" {
		return
	}
	var messages [4][]byte // by protocol
	w.Each(func(c *conn) {
		proto := c.session.proto.Load() & 3
		if messages[proto] == nil {
			messages[proto] = placementMessage(proto == 3, text)
		}
		c.pushes.push(messages[proto])
	})
}

// placementMessage is a message of the channel, as Redis sends them.
func placementMessage(resp3 bool, text string) []byte {
	head := "*3\r\n"
	if resp3 {
		head = ">3\r\n"
	}
	b := append([]byte(head), "$7\r\nmessage\r\n"...)
	b = wire.AppendBulkString(b, placementChannel)
	return wire.AppendBulkString(b, text)
}
