package resp

import (
	"slices"

	"github.com/ringside-kv/ringside/resp/internal/glob"
)

// What a script publishes leaves once its unit has settled: a unit may be run again, or fail,
// and holds latches, which nobody may keep while he waits for other nodes. The script is told
// how many clients of this node listen, as a node of Redis Cluster would tell it.

// A scriptMessage is such a message.
type scriptMessage struct {
	kind             subKind
	channel, message []byte
	raw              []byte // the request, for other nodes
}

// postpone notes the message of the call that is set up, and replies.
func (x *call) postpone(kind subKind) {
	c := x.conn
	c.outbox = append(c.outbox, scriptMessage{kind, slices.Clone(x.Args[1]), slices.Clone(x.Args[2]), x.raw()})
	x.Int(x.srv.pubsub.listening(kind, x.Args[1]))
}

// listening is how many of this node's subscriptions a message would go to.
func (p *pubsub) listening(kind subKind, channel []byte) (n int64) {
	if p.n.Load() == 0 {
		return 0
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	if t := p.topics[kind][string(channel)]; t != nil {
		n += int64(len(t.conns))
	}
	if kind != subChannel {
		return n
	}
	for _, t := range p.topics[subPattern] {
		if glob.Match([]byte(t.name), channel, false) {
			n += int64(len(t.conns))
		}
	}
	return n
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
	if c.pub == nil {
		c.pub = new(publisher)
	}
	c.pub.mailing.from = nil
	for _, m := range messages {
		c.srv.pubsub.deliver(&c.pub.mailing, m.kind, m.channel, m.message)
	}
	c.srv.courier.send(c.srv, &c.pub.mailing)
	if routes := c.srv.routes.Load(); routes != nil {
		var raw []byte
		for _, m := range messages {
			raw = append(raw, m.raw...)
		}
		c.call.sendPeers(routes, raw, len(messages))
	}
}
