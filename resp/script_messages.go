package resp

import (
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/pubsub"
)

// What a script publishes leaves once its unit has settled: a unit may be run again, or fail,
// and holds latches, which nobody may keep while he waits for other nodes. The script is told
// how many clients of this node listen, as a node of Redis Cluster would tell it.

// A scriptMessage is such a message.
type scriptMessage struct {
	kind             pubsub.Kind
	channel, message []byte
	raw              []byte // the request, for other nodes
}

// postpone notes the message of the call that is set up, and replies.
func (x *call) postpone(kind pubsub.Kind) {
	c := x.conn
	c.outbox = append(c.outbox, scriptMessage{kind, slices.Clone(x.Args[1]), slices.Clone(x.Args[2]), x.raw()})
	x.Int(x.srv.pubsub.Listening(kind, x.Args[1]))
}

// finishPosting ends a unit whose scripts have published, and has that leave.
func (c *conn) finishPosting() {
	messages := c.outbox
	c.outbox = nil
	c.finishUnit()
	if c.unitFailed {
		return
	}
	c.leave() // nothing is held while other nodes are waited for
	p := c.publisher()
	for _, m := range messages {
		c.srv.pubsub.Deliver(&p.mailing, m.kind, m.channel, m.message)
	}
	c.srv.courier.Send(&p.mailing, c.turn.AtEnd)
	c.out.Buf = p.own.AppendAll(c.out.Buf)
	if routes := c.srv.routes.Load(); routes != nil {
		var raw []byte
		for _, m := range messages {
			raw = append(raw, m.raw...)
		}
		c.call.sendPeers(routes, raw, len(messages))
	}
}
